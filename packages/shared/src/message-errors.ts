/** Why a message that was accepted ended as `failed`: the code in the record, and the sentence beside it. */
export const messageErrors = {
  recipient_not_on_whatsapp: 'The recipient number is not on WhatsApp.',
  opted_out: 'The recipient has opted out of messages of this account.',
  sender_logged_out: 'The sender was logged out before the message was sent.',
  sender_restricted: 'WhatsApp does not let this sender write to new contacts at the moment.',
  first_contact_refused: 'WhatsApp refused a first message to this contact.',
  media_fetch_failed: 'The media URL could not be fetched.',
  media_fetch_timeout: 'The media URL did not answer completely in time.',
  media_too_large: 'The media file is larger than allowed for its type.',
  media_type_mismatch: 'The media file is not of the given type.',
  media_url_forbidden: 'The media URL points to an address that the gateway does not fetch from.',
  upload_not_found: 'The uploaded file does not exist any more.',
  upload_unavailable: 'The uploaded file could not be read.',
  invalid_media: 'The media file cannot be sent.',
  message_expired: 'The message could not be sent in the time allowed.',
  rejected_by_whatsapp: 'WhatsApp refused the message.',
  message_ends_connection: 'WhatsApp ended the connection each time that the message was sent.',
  message_stops_workers: 'Four workers stopped while they prepared or sent the message.',
} as const

export type MessageErrorCode = keyof typeof messageErrors
