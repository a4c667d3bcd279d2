/** What the gateway refused, or code `unreachable` without an answer of the gateway. */
class GatewayError extends Error {
  constructor(code, sentence, retryAfterSeconds) {
    super(sentence)
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** A wait for changes takes up to 20 s. A connection that died in silence would never answer. */
const answerMsMax = 30_000

/**
 * Calls operations with a credential: an API key, a link or the session of a link. `fields` are sent with every call. A
 * session needs none: it has one sender.
 */
export function makeGateway(credential, fields = {}) {
  return async (operation, more, signal) => {
    const response = await fetch(`/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': credential },
      body: JSON.stringify({ ...fields, ...more }),
      signal: AbortSignal.any([AbortSignal.timeout(answerMsMax), ...(signal ? [signal] : [])]),
    }).catch((error) => {
      throw signal?.aborted ? error : unreachable()
    })
    const answer = await response.json().catch(() => {
      throw unreachable()
    })
    if (answer.ok) return answer
    throw new GatewayError(answer.code, answer.error, Number(response.headers.get('retry-after') ?? 0))
  }
}

function unreachable() {
  return new GatewayError('unreachable', '', 0)
}
