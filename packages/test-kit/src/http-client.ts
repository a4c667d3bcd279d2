import { violations } from './contract.ts'

type Body = Record<string, unknown>
export type Answer = { status: number; headers: Headers; body: Body }

export type Client = {
  get(path: string, query?: Record<string, string>, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  request(path: string, init?: RequestInit): Promise<Answer>
}

/** Every request fails unless its response is documented, so every test also checks the OpenAPI document. */
export function makeClient(baseUrl: string, apiKey?: string): Client {
  const credential: Record<string, string> = apiKey === undefined ? {} : { 'x-api-key': apiKey }

  async function request(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(baseUrl + path, {
      ...init,
      headers: { ...credential, ...(init.headers as Record<string, string>) },
    })
    const text = await response.text()
    const { status, headers } = response
    const found = violations(init.method ?? 'GET', new URL(response.url).pathname, { status, headers, text })
    if (found.length > 0) throw new Error(found.join('\n'))
    return { status, headers, body: text === '' ? {} : (JSON.parse(text) as Body) }
  }

  return {
    request,
    get: (path, query = {}, headers = {}) => {
      const search = new URLSearchParams(query).toString()
      return request(search ? `${path}?${search}` : path, { headers })
    },
    post: (path, body = {}, headers = {}) =>
      request(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}
