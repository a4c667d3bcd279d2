import { AppError } from '../errors/app-error.ts'

export function senderNotFound(): AppError {
  return new AppError('sender_not_found', 'The account has no such sender.')
}

/** `reason` is that of the sender's status. */
export function senderBlocked(reason: string): AppError {
  return new AppError(
    'sender_blocked',
    `WhatsApp does not let this sender connect (${reason}). Open WhatsApp on its phone to see why. ` +
      'When it works there again, call generate-qr with force=true and scan the QR code.',
  )
}

export function senderNotConnected(): AppError {
  return new AppError(
    'sender_not_connected',
    'The sender is not connected to WhatsApp. Call generate-qr and scan the QR code.',
  )
}
