import { AppError } from '../errors/app-error.ts'

type ParameterEntries = Iterable<[name: string, value: unknown]>

/**
 * One value for each name in the query and the body. Refuses a name with two values, because silently preferring one
 * might act on the wrong one; of `lists`, the values are items. `null` and empty texts count as absent: templates and forms
 * always send all fields. Leaves out the API key.
 */
export function collectParameters(
  query: ParameterEntries,
  body: ParameterEntries,
  lists: ReadonlySet<string> = new Set(),
): Map<string, unknown> {
  const inQuery = collect(query, lists, 'The parameter appears twice in the query.')
  const inBody = collect(body, lists, 'The parameter appears twice in the body.')
  for (const [name, value] of inBody) {
    const other = inQuery.get(name)
    if (inQuery.has(name) && other !== textOf(value)) {
      throw duplicate(name, 'The parameter has different values in query and body.')
    }
    inQuery.set(name, value)
  }
  return inQuery
}

function collect(
  given: ParameterEntries,
  lists: ReadonlySet<string>,
  sentence: string,
): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const [written, value] of given) {
    if (written === 'api_key' || value === null || value === '') continue
    const name = nameOfList(written, lists) ?? written
    const earlier = values.get(name)
    if (earlier === undefined) values.set(name, value)
    else if (lists.has(name) && typeof earlier === 'string' && typeof value === 'string') {
      values.set(name, `${earlier},${value}`)
    } else throw duplicate(name, sentence)
  }
  return values
}

/** PHP writes the items of a list as `types[]` or `types[0]`. */
function nameOfList(written: string, lists: ReadonlySet<string>): string | undefined {
  if (!written.endsWith(']')) return undefined
  const name = /^(\w{1,40})\[\d{0,6}\]$/.exec(written)?.[1]
  return name !== undefined && lists.has(name) ? name : undefined
}

/** The value as a query would spell it. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'object' ? undefined : String(value)
}

function duplicate(parameter: string, message: string): AppError {
  return new AppError('duplicate_parameter', message, {
    details: [{ parameter: parameter.slice(0, 100), message }],
  })
}
