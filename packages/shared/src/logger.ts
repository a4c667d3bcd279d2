import { type Logger, pino } from 'pino'

export type { Logger }

/** One JSON line each: a constant sentence and fields. Redaction is the net below; callers pass no secrets. */
export function makeLogger(role: string, level: string): Logger {
  return pino({
    level,
    base: { role, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['api_key', 'apiKey', 'password', 'message', 'caption', 'qr', 'text', 'headers'],
      censor: '[redacted]',
    },
    serializers: { err: describeError },
  })
}

/** Only what names the fault: a database error carries the row, the statement and its parameters beside it. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = 'code' in error ? error.code : undefined
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(code !== undefined && { code }),
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  }
}
