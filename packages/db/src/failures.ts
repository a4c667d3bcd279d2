import postgres from 'postgres'

/**
 * The kind of a failure that is not the fault of the values in a statement, so that a retry may overcome it: `storage_full`, or
 * `unavailable` for every other error of Postgres, of the connection to it or of the system. Nothing may be given up because of
 * it. Undefined for refused content, and for our own bugs.
 */
export function databaseFailure(error: unknown): 'unavailable' | 'storage_full' | undefined {
  const code = codeOf(error)
  if (code === undefined || isBug(code) || isRefusedContent(error)) return undefined
  return code === '53100' ? 'storage_full' : 'unavailable'
}

/**
 * Whether Postgres refused a statement because of the values in it, such as a text with U+0000 or an id that no index can
 * hold: without the bad one of several items it succeeds.
 */
export function isRefusedContent(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  // A check that fails is of the values, but so is called a partition that does not exist.
  return /^(22|23|54)...$/.test(code) && code !== '23514'
}

/** Whether another row has the value of a unique constraint. */
export function isTaken(error: unknown, constraint: string): boolean {
  const cause = error instanceof postgres.PostgresError ? error : (error as Error).cause
  return (
    cause instanceof postgres.PostgresError && cause.code === '23505' && cause.constraint_name === constraint
  )
}

/** Whether Postgres is unreachable, starting, stopping, overloaded or too slow: what passes without an operator. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  return outageCodes.has(code) || /^(08|53(?!100)|57P)/.test(code)
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html, and error codes of postgres.js and Node sockets.
const outageCodes = new Set([
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

/** Of postgres.js, when it is called wrongly. */
const clientBugs = new Set([
  'COPY_IN_PROGRESS',
  'MAX_PARAMETERS_EXCEEDED',
  'MESSAGE_NOT_SUPPORTED',
  'NOT_TAGGED_CALL',
  'UNDEFINED_VALUE',
  'UNSAFE_TRANSACTION',
])

function isBug(code: string): boolean {
  return clientBugs.has(code) || /^ERR_(ASSERTION|INVALID)/.test(code)
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof postgres.PostgresError) return error.code
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  // Drizzle wraps errors, and connecting to a host with several addresses fails with an AggregateError.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return codeOf(error.cause)
}
