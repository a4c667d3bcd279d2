import { violations } from '@wagate/test-kit/contract'
import type { startApi } from '../src/start.ts'
import { formOf } from './generated-bodies.ts'
import type { GeneratedRequest } from './generated-requests.ts'

export type InProcessAnswer = { status: number; headers: Headers; text: string; problems: string[] }

/** Sends requests without a socket, which is faster. `problems` are deviations from the OpenAPI document. */
export function makeInProcessClient({ fetch }: Pick<Awaited<ReturnType<typeof startApi>>, 'fetch'>) {
  return async ({ method, path, query, headers, body }: GeneratedRequest): Promise<InProcessAnswer> => {
    const search = formOf(query)
    const url = `http://localhost${path}${search && `?${search}`}`
    const request = new Request(url, { method, headers, ...(body !== undefined && { body }) })
    const response = await fetch(request, { incoming: { socket: { remoteAddress: '127.0.0.1' } } })
    const answer = { status: response.status, headers: response.headers, text: await response.text() }
    return { ...answer, problems: violations(method, new URL(url).pathname, answer) }
  }
}

export type InProcessClient = ReturnType<typeof makeInProcessClient>
