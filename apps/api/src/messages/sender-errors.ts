import { AppError } from '@wagate/shared/app-error'

export function senderNotFound(): AppError {
  return new AppError('sender_not_found', 'The account has no such sender.')
}

export function senderNotConnected(): AppError {
  return new AppError(
    'sender_not_connected',
    'The sender is not connected to WhatsApp. Call generate-qr and scan the QR code.',
  )
}
