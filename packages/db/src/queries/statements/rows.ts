import type postgres from 'postgres'

export type ColumnType = 'int' | 'bigint' | 'text' | 'uuid'

/** The columns of the relation by their SQL names, each with its type and what an item has for it. */
export type Columns<Item> = Record<
  string,
  readonly [type: ColumnType, of: (item: Item) => string | number | null]
>

type Relation = postgres.PendingQuery<postgres.Row[]>

/**
 * Items as a relation for FROM: one array parameter for each column, so the text of the statement does not depend on
 * the number of items and stays prepared. A column without any value becomes one null, which Postgres reads faster
 * than a list of nulls.
 */
export function rows<Item>(
  sql: postgres.Sql,
  name: string,
  items: readonly Item[],
  columns: Columns<Item>,
): Relation {
  return relation(sql, items, columns, `${hidden}) AS ${name} (${Object.keys(columns).join(', ')})`)
}

/** As `rows`, with one more column: `position`, the place of the item in the list, from 1. */
export function numberedRows<Item>(
  sql: postgres.Sql,
  name: string,
  items: readonly Item[],
  columns: Columns<Item>,
): Relation {
  const names = [...Object.keys(columns), 'position']
  return relation(sql, items, columns, `WITH ORDINALITY ${hidden}) AS ${name} (${names.join(', ')})`)
}

function relation<Item>(
  sql: postgres.Sql,
  items: readonly Item[],
  columns: Columns<Item>,
  ending: string,
): Relation {
  const given = Object.values(columns)
  const casts = given.map(
    ([type], index) => `::${type}[]${index === given.length - 1 ? `) ${ending}` : ', '}`,
  )
  const lists = given.map(([, of]) => {
    const list = items.map(of)
    return list.some((value) => value !== null) ? list : null
  })
  return sql(templateOf(['(SELECT * FROM unnest(', ...casts]), ...lists)
}

/**
 * No limit. It hides the number of items from the planner: it would find a plan for one item so much cheaper than one for
 * any number that it made a new plan each time. With a dozen partitions, that takes ten times as long as the statement.
 */
const hidden = 'LIMIT (SELECT NULL::bigint)'

/** The numbers as text for `${…}::int[]`: postgres.js would look at each of thousands for characters to escape. */
export const listOf = (numbers: readonly number[]) => `{${numbers.join()}}`

/** One object for each text: postgres.js keeps every template that it has seen. */
const templates = new Map<string, TemplateStringsArray>()

function templateOf(parts: string[]): TemplateStringsArray {
  const text = parts.join('')
  const known = templates.get(text)
  if (known) return known
  const template = Object.assign(parts, { raw: parts })
  templates.set(text, template)
  return template
}
