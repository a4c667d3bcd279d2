import { AppError } from '../errors/app-error.ts'

type ParameterEntries = Iterable<[name: string, value: unknown]>

/**
 * One value for each name in the query and the body. Refuses a name with two values, because silently preferring one
 * might act on the wrong one. `null` counts as absent. Leaves out the API key.
 */
export function collectParameters(query: ParameterEntries, body: ParameterEntries): Map<string, unknown> {
  const inQuery = collect(query, 'The parameter appears twice in the query.')
  const inBody = collect(body, 'The parameter appears twice in the body.')
  for (const [name, value] of inBody) {
    const other = inQuery.get(name)
    if (inQuery.has(name) && other !== textOf(value)) {
      throw duplicate(name, 'The parameter has different values in query and body.')
    }
    inQuery.set(name, value)
  }
  return inQuery
}

function collect(given: ParameterEntries, sentence: string): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const [name, value] of given) {
    if (name === 'api_key' || value === null) continue
    if (values.has(name)) throw duplicate(name, sentence)
    values.set(name, value)
  }
  return values
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
