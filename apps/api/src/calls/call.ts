import type { Principal } from '../credentials/principal.ts'
import type { SessionCookie } from '../credentials/session-cookie.ts'
import type { Deadline } from '../http/deadline.ts'
import type { FileRules, ReceivedFile } from '../http/receive-file.ts'
import type { ChargeLimits } from '../limits/charge.ts'
import type { ApiContext } from './context.ts'

/** What the handler of an operation may use besides its parameters. */
export type Call = PublicCall & { principal: Principal }

/** The same for an operation without an API key. */
export type PublicCall = {
  /** The name of the operation. */
  operation: string
  context: ApiContext
  request: CallRequest
  /** Of the URLs in answers, such as `https://gateway.example.com`. */
  publicOrigin(): string
  /**
   * For a caller that has given none. Named in the answer if the call fails for a reason of the gateway (5xx), so that it
   * can be repeated safely.
   */
  makeIdempotencyKey(): string
  /** Expires when the caller gets a timeout response. Handlers that wait for a device or a person extend it. */
  deadline: Deadline
  setHeader(name: string, value: string): void
  /** The cookie with the secret of a session. */
  cookie(): SessionCookie
  /** Adds a sentence to the `warnings` of the response. */
  warn(sentence: string): void
  /** Charges limits that only this operation has. Throws `rate_limited`. */
  charge: ChargeLimits
}

/** What the HTTP request says besides its parameters. */
export type CallRequest = {
  requestId: string
  exchangeId: string
  findClientAddress(): string
  findUserAgent(): string | undefined
  /** Aborted when the caller closes the connection before the answer. */
  findDisconnect(): AbortSignal
  /** From the header; operations read the parameter `idempotency_key` themselves. */
  idempotencyKeyHeader: string | undefined
  /** From the header that browsers send when they connect to a stream again. */
  lastEventIdHeader: string | undefined
  /** Undefined when the client does not say it. */
  bodyBytes: number | undefined
  /** The file that is the body of this request, of an operation that `takesFile`. Remove it in the end. */
  receiveFile(rules: FileRules): Promise<ReceivedFile>
}
