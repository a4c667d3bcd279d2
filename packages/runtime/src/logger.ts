import { type Logger, pino } from 'pino'
import { describeError } from './describe-error.ts'

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
