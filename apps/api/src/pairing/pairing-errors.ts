import { AppError } from '../errors/app-error.ts'

export function alreadyConnected(): AppError {
  return new AppError(
    'already_connected',
    'The sender is already linked. Use force=true to log it out and link it again.',
  )
}

export function qrTimeout(sentence: string): AppError {
  return new AppError('qr_timeout', sentence)
}

export function tooManyPairings(): AppError {
  return new AppError(
    'rate_limited',
    'Too many senders are waiting for their QR code to be scanned. Scan one, end one with logout-device, or try again later.',
    { retryAfterSeconds: 10 },
  )
}

/** QR codes travel through Redis only. */
export function pairingUnavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'QR codes are temporarily unavailable. Try again.', {
    retryAfterSeconds: 1,
    cause,
  })
}
