/** What the gateway refused, or code `unreachable` and status 0 without an answer of the gateway. */
class GatewayError extends Error {
  constructor({ code, error = '', details = [] }, { status = 0, retryAfterSeconds = 0 } = {}) {
    super(error)
    this.code = code
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
    /** The parameters that are missing or wrong, each with a `message`. */
    this.details = details
  }
}

/** A wait for changes takes up to 20 s. A connection that died in silence would never answer. */
const answerMsMax = 30_000

/** No other site can send this header. Without it, the gateway does not look at the cookie of a session. */
const pageHeaders = { 'x-wagate-page': '1' }

/**
 * Calls operations with a credential: an API key, a link or the session of a link. `fields` are sent with every call. A
 * session needs none: it has one sender.
 */
export function makeGateway(credential, fields = {}) {
  return (operation, more, signal) =>
    ask(operation, posted({ 'x-api-key': credential }, { ...fields, ...more }), signal)
}

/** Calls an operation as the person who has signed in with this browser, or as nobody yet. */
export const call = (operation, fields = {}) => ask(operation, posted(pageHeaders, fields))

/** The same for operations that only read. */
export const read = (operation, query = {}) =>
  ask(`${operation}?${new URLSearchParams(query)}`, { headers: pageHeaders })

/** The file that an operation answers with. It may be large: nothing limits its time. */
export async function download(operation) {
  const response = await fetch(`/${operation}`, { headers: pageHeaders }).catch(refuseUnreachable)
  if (!response.ok) await readAnswer(response)
  return response.blob().catch(refuseUnreachable)
}

const posted = (headers, fields) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(fields),
})

async function ask(path, request, signal) {
  const response = await fetch(`/${path}`, {
    ...request,
    credentials: 'same-origin',
    signal: AbortSignal.any([AbortSignal.timeout(answerMsMax), ...(signal ? [signal] : [])]),
  }).catch((error) => {
    throw signal?.aborted ? error : unreachable()
  })
  return readAnswer(response)
}

async function readAnswer(response) {
  const answer = await response.json().catch(refuseUnreachable)
  if (answer.ok) return answer
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? 0)
  throw new GatewayError(answer, { status: response.status, retryAfterSeconds })
}

function refuseUnreachable() {
  throw unreachable()
}

function unreachable() {
  return new GatewayError({ code: 'unreachable' })
}
