import type { Actions } from './actions.ts'
import type { Body } from './read-body.ts'

type Request = { actions: Actions; params: string[]; query: URLSearchParams; body: Body }
export type Route = {
  path: RegExp
  run: (request: Request) => unknown
  /** The names in the query. */
  query?: readonly string[]
  ndjson?: true
  /** The result is a ShownFile, answered as it is. */
  file?: true
} & ({ method: 'GET' | 'DELETE' } | { method: 'POST'; fields: readonly string[] })
