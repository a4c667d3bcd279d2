import type { PasskeyStep } from '@wagate/shared/statuses'
import { AppError } from '../errors/app-error.ts'
import { rateLimited } from '../limits/rate-limited.ts'

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
  return rateLimited(
    'pairings',
    'Too many senders are waiting for their QR code to be scanned. Scan one, end one with logout-device, or try again later.',
    10,
  )
}

/** QR codes and passkeys travel through Redis only. */
export function pairingUnavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'Linking is temporarily unavailable. Try again.', {
    retryAfterSeconds: 1,
    cause,
  })
}

export function throwPairingUnavailable(cause: unknown): never {
  throw pairingUnavailable(cause)
}

/** `error` is WhatsApp's error code. */
export function pairingCodeRefused(error: string): AppError {
  if (error === '429') {
    return rateLimited(
      'whatsapp',
      'WhatsApp has given out too many pairing codes for this number (error 429). Scan the QR code of generate-qr, or try again later.',
      300,
    )
  }
  if (error.startsWith('5')) {
    return new AppError('unavailable', `WhatsApp gave out no pairing code (error ${error}). Try again.`, {
      retryAfterSeconds: 5,
    })
  }
  return new AppError(
    'pairing_code_refused',
    `WhatsApp refused to give out a pairing code for this number (error ${error}). Check the number, or scan the QR code of generate-qr.`,
  )
}

/** A QR code would link nothing. */
export function passkeyPending(step: PasskeyStep): AppError {
  return new AppError(
    step,
    step === 'passkey_required'
      ? 'A phone has scanned, and WhatsApp asks for the passkey of its account. Continue with passkey-challenge, or start again with force=true.'
      : 'A phone has scanned, and the passkey was accepted. Continue with passkey-confirm, or start again with force=true.',
  )
}

export function proxyFailed(detail: string | null): AppError {
  const why = detail === null ? '' : ` (${detail})`
  return new AppError(
    'proxy_failed',
    `The proxy of the sender gives no connection to WhatsApp${why}. Check it, or set another one with set-device.`,
  )
}
