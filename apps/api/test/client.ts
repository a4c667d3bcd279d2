type Body = Record<string, unknown>
type Answer = { status: number; headers: Headers; body: Body }

export type Client = {
  get(path: string, query?: Record<string, string>, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  request(path: string, init?: RequestInit): Promise<Answer>
}

/** Fails unless the answer is JSON of the agreed envelope: every test checks it by the way. */
export function makeClient(baseUrl: string, apiKey?: string): Client {
  const credential: Record<string, string> = apiKey === undefined ? {} : { 'x-api-key': apiKey }

  async function request(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(baseUrl + path, {
      ...init,
      headers: { ...credential, ...(init.headers as Record<string, string>) },
    })
    const text = await response.text()
    const body = text === '' ? {} : (JSON.parse(text) as Body)
    if (text !== '') checkEnvelope(response, body)
    return { status: response.status, headers: response.headers, body }
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

function checkEnvelope({ status, headers }: Response, body: Body): void {
  const problems = [
    body.ok !== status < 400 && `ok is ${body.ok} at ${status}`,
    !headers.get('content-type')?.startsWith('application/json') && 'not JSON',
    headers.get('cache-control') !== 'no-store' && 'may be cached',
    headers.get('referrer-policy') !== 'no-referrer' && 'sends referrers',
    headers.get('x-content-type-options') !== 'nosniff' && 'may be sniffed',
    !headers.get('x-request-id') && 'no request id',
    status >= 400 && typeof body.error !== 'string' && 'no error sentence',
    status >= 400 && !/^[a-z_]+$/.test(String(body.code)) && 'no code',
  ].filter(Boolean)
  if (problems.length > 0) throw new Error(`${problems.join(', ')}: ${JSON.stringify(body)}`)
}
