import postgres from 'postgres'

/**
 * The kind of a database failure that a retry may overcome: `unavailable` (unreachable, stopping, overloaded or too slow) or
 * `storage_full`. Undefined for every other error, which is a bug.
 */
export function databaseFailure(error: unknown): 'unavailable' | 'storage_full' | undefined {
  const code = codeOf(error)
  if (code === undefined) return undefined
  if (code === '53100') return 'storage_full'
  return transientCodes.has(code) || /^(08|53|57P)/.test(code) ? 'unavailable' : undefined
}

/**
 * Whether Postgres refused a statement because of the values in it, such as a text with U+0000 or an id that no index can
 * hold: without the bad one of several items it succeeds.
 */
export function isRefusedContent(error: unknown): boolean {
  return /^(22|23|54)/.test(codeOf(error) ?? '')
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html, and error codes of postgres.js and Node sockets.
const transientCodes = new Set([
  '57014', // statement_timeout
  '25P03', // idle_in_transaction_session_timeout
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

function codeOf(error: unknown): string | undefined {
  if (error instanceof postgres.PostgresError) return error.code
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  // Drizzle wraps errors, and connecting to a host with several addresses fails with an AggregateError.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return codeOf(error.cause)
}
