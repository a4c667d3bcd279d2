import { requestErrorStatus } from '../errors/request-errors.ts'
import type { Operation } from '../operation.ts'
import { always, documentedErrors, ofBodies, ofChanges } from './documented-errors.ts'
import { introduction } from './introduction.ts'
import { answerSchema, type JsonSchema, parametersSchema } from './json-schemas.ts'
import { table } from './markdown-table.ts'

/** docs/api.md: the same as the OpenAPI document, to be read. */
export function makeReference(operations: Operation[]): string {
  return [
    '<!-- Made by "npm run api-docs" out of apps/api/src/operations. -->',
    '# HTTP interface',
    'The same as an [OpenAPI](https://www.openapis.org) document is at `/openapi.json` of a running gateway, and as a page to try it at `/docs`.',
    introduction,
    `**Errors** of every operation: ${listCodes(always)}. Of POST: ${listCodes(ofBodies)}. Of operations that change something: ${listCodes(ofChanges)}. [errors.md](errors.md) says what each code means and what to do.`,
    '| Operation | Methods | |\n| --- | --- | --- |\n' +
      operations
        .map(({ name, methods, summary }) => `| [${name}](#${name}) | ${methods.join(', ')} | ${summary} |`)
        .join('\n'),
    ...operations.map((operation) => section(operation)),
  ]
    .join('\n\n')
    .concat('\n')
}

function section(operation: Operation): string {
  const { name, summary, methods, adminOnly, example } = operation
  const parameters = parametersSchema(operation)
  const answer = answerSchema(operation)
  const own = operation.errors ?? []
  const errors = errorsOf(operation).filter((code) => own.includes(code) || !ofMany.includes(code))
  return [
    `## ${name}`,
    `${summary}. ${methods.join(' or ')}.${adminOnly ? ' With the key of an ADMIN.' : ''}`,
    table(['Parameter', '', 'Type', 'Meaning'], rowsOf(parameters, 'required', 'optional')),
    table(['Field of the answer', '', 'Type', 'Meaning'], rowsOf(answer, '', 'not always')),
    errors.length > 0 ? `Errors: ${listCodes(errors)}.` : '',
    `\`\`\`sh\n${curl(operation)}\n\`\`\``,
    `\`\`\`json\n${JSON.stringify({ ok: true, ...example.answer }, null, 2)}\n\`\`\``,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

const ofMany = [...always, ...ofBodies, ...ofChanges]

function errorsOf(operation: Operation) {
  return [...new Set(operation.methods.flatMap((method) => documentedErrors(operation, method)))]
}

function listCodes(codes: string[]): string {
  const statusOf = (code: string) => requestErrorStatus[code as keyof typeof requestErrorStatus]
  return [...codes]
    .sort((one, other) => statusOf(one) - statusOf(other))
    .map((code) => `${statusOf(code)} \`${code}\``)
    .join(', ')
}

function rowsOf({ properties = {}, required = [], $defs }: JsonSchema, always: string, sometimes: string) {
  return Object.entries(properties)
    .filter(([name]) => name !== 'ok' && name !== 'warnings')
    .flatMap(([name, schema]) => [
      row(name, schema, required.includes(name) ? always : sometimes),
      ...rowsOfItems(name, schema, $defs as Record<string, JsonSchema> | undefined),
    ])
}

function row(name: string, schema: JsonSchema, presence: string): string[] {
  return [`\`${name}\``, presence, typeOf(schema), (schema.description ?? '').replace(/[<|]/g, '\\$&')]
}

function rowsOfItems(
  name: string,
  schema: JsonSchema,
  definitions: Record<string, JsonSchema> = {},
): string[][] {
  const items = schema.items as JsonSchema | undefined
  const named = definitions[String(items?.$ref).replace('#/$defs/', '')] ?? items
  return rowsOf(named ?? {}, '', 'not always').map(([field = '', ...cells]) => [
    `\`${name}[].${field.slice(1)}`,
    ...cells,
  ])
}

function typeOf(schema: JsonSchema): string {
  const values = (schema.enum ?? schema['x-extensible-enum']) as unknown[] | undefined
  if (values) return values.map((value) => `\`${value}\``).join(', ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.title !== undefined) return String(schema.title)
  const alternatives = schema.anyOf as JsonSchema[] | undefined
  if (alternatives) return describeAlternatives(alternatives)
  if (Array.isArray(schema.type)) return `${typeOf({ ...schema, type: schema.type[0] ?? 'null' })} or null`
  if (schema.type === 'integer') return `whole number${rangeOf(schema)}`
  if (schema.type === 'array') return 'list'
  if (schema.format === 'date-time') return 'time'
  if (schema.format === 'uuid') return 'UUID'
  if (schema.format === 'base64') return 'base64'
  if (schema.type === 'string')
    return schema.maxLength === undefined ? 'text' : `text, up to ${schema.maxLength} characters`
  return schema.type ?? 'any'
}

/** That all may be given as text, for queries and forms, goes without saying. */
function describeAlternatives(alternatives: JsonSchema[]): string {
  const [first, ...rest] = alternatives
  const isKeyword = first?.const !== undefined
  const others = rest.filter(
    ({ type, anyOf }) => anyOf || isKeyword || (type !== 'string' && type !== undefined),
  )
  return [first ?? {}, ...others].map(typeOf).join(' or ')
}

function rangeOf({ minimum, maximum }: JsonSchema): string {
  return minimum === undefined || maximum === undefined ? '' : `, ${minimum} to ${maximum}`
}

function curl({ name, methods, example }: Operation): string {
  const url = `http://127.0.0.1:3000/${name}`
  if (methods.includes('POST')) {
    const body = JSON.stringify(example.given).replaceAll("'", "'\\''")
    return `curl -s ${url} -H "x-api-key: $KEY" -H 'content-type: application/json' \\\n  -d '${body}'`
  }
  const query = new URLSearchParams(
    Object.entries(example.given).map(([key, value]): [string, string] => [key, String(value)]),
  ).toString()
  return `curl -s -H "x-api-key: $KEY" '${url}${query && `?${query}`}'`
}
