import postgres from 'postgres'

/**
 * Whether a failed query is the database's fault and passes by itself: `unavailable` (away, stopping, overloaded,
 * too slow) or `storage_full`. Undefined for everything else, which is a bug.
 */
export function databaseFailure(error: unknown): 'unavailable' | 'storage_full' | undefined {
  const code = codeOf(error)
  if (code === undefined) return undefined
  if (code === '53100') return 'storage_full'
  return passing.has(code) || /^(08|53|57P)/.test(code) ? 'unavailable' : undefined
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html, and the codes of postgres.js and of sockets.
const passing = new Set([
  '57014', // statement_timeout
  '25P03', // idle_in_transaction_session_timeout
  '40001',
  '40P01',
  '55P03',
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
  // Drizzle wraps, and a host with several addresses fails as an AggregateError.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return codeOf(error.cause)
}
