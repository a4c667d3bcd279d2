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

type Described = { type: string; message: string; code?: string; stack?: string }

/**
 * What a log may show of an error: its innermost cause and where it came from. Drizzle puts the values of a query
 * into message and properties, ioredis the arguments of a command: texts, phone numbers, QR codes.
 */
export function describeError(error: unknown): Described | undefined {
  if (!(error instanceof Error))
    return error === undefined ? undefined : { type: typeof error, message: String(error) }
  const innermost = innermostOf(error)
  const stack = [innermost, error].flatMap(({ stack = '' }) => stack.match(/^ +at .*$/gm) ?? [])
  return {
    type: innermost.name,
    message: innermost.message,
    ...('code' in innermost && { code: String(innermost.code) }),
    stack: [...new Set(stack)].join('\n'),
  }
}

function innermostOf(error: Error): Error {
  let innermost = error
  // Bounded: a cause may lead back to itself.
  for (let depth = 0; depth < 10 && innermost.cause instanceof Error; depth++) innermost = innermost.cause
  return innermost
}
