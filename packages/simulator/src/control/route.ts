import type { Actions } from './actions.ts'
import type { Body } from './read-body.ts'

type Request = { actions: Actions; params: string[]; query: URLSearchParams; body: Body }
export type Route = { method: string; path: RegExp; run: (request: Request) => unknown; ndjson?: true }
