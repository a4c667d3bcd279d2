import { AppError } from '../errors/app-error.ts'

export function senderNotFound(sender: string): AppError {
  return new AppError(
    'sender_not_found',
    `The account has no sender ${sender}. Check the number with devices, or add it with create-device.`,
  )
}

/** `reason` is the status reason of the sender. */
export function senderBlocked(reason: string): AppError {
  return new AppError(
    'sender_blocked',
    `WhatsApp does not let this sender connect (${reason}). Open WhatsApp on its phone to find out why. ` +
      'Once WhatsApp works there again, call generate-qr with force=true and scan the QR code.',
  )
}

export function senderPaused(until: Date | null): AppError {
  const end = until ? `until ${until.toISOString()}` : 'until it is resumed'
  return new AppError(
    'sender_paused',
    `The account has paused this sender ${end}, so that it accepts no messages. Call resume-sender, or pause-sender with mode=hold to accept messages that wait.`,
  )
}

export function senderNotConnected(): AppError {
  return new AppError(
    'sender_not_connected',
    'The sender is not linked to WhatsApp. Call generate-qr and scan the QR code.',
  )
}

export function queueFull(sentence: string): AppError {
  return new AppError('queue_full', sentence, { retryAfterSeconds: 10 })
}

export function mediaFull(): AppError {
  return queueFull(
    'Too many bytes of data: URLs are waiting for this account. Try again later, or send an http(s) URL.',
  )
}
