import type { MediaUnavailableReason } from '@wagate/shared/received-media'

/** WhatsApp no longer has the file. */
export class MediaGone extends Error {
  constructor() {
    super('WhatsApp no longer has the file')
    this.name = 'MediaGone'
  }
}

/** The file can never be had. */
export class MediaLost extends Error {
  readonly reason: MediaUnavailableReason

  constructor(reason: MediaUnavailableReason, options?: ErrorOptions) {
    super(`The file cannot be had: ${reason}`, options)
    this.name = 'MediaLost'
    this.reason = reason
  }
}
