import type { MessageErrorCode } from '@wagate/shared/message-errors'
import { type Guidance, permanent, temporary } from './guidance.ts'

export const messageErrorGuide: Record<MessageErrorCode, Guidance> = {
  recipient_not_on_whatsapp: permanent(
    'The number has no WhatsApp account.',
    'Check the number. Do not send to it again.',
  ),
  opted_out: permanent(
    'The recipient does not want messages of the account: `opt-outs` lists it.',
    'Do not send to it again. If it wants messages after all, call `opt-in`.',
  ),
  sender_logged_out: permanent(
    'The sender was logged out after the message was accepted.',
    'Link the sender again and send a new message.',
  ),
  sender_restricted: temporary(
    'WhatsApp refused a first message to this contact and restricts the sender: it is under a time-lock (error 463), or has used up its new chats (error 475).',
    'Do not retry before `restricted_until` of the sender, which would make the restriction worse. Let the contact write first.',
  ),
  first_contact_refused: permanent(
    'WhatsApp refused a first message to this contact (error 463). The sender itself is not restricted.',
    'Do not send to it again. Let the contact write first.',
  ),
  media_fetch_failed: temporary(
    'The host of the media URL refused the request, its response was incomplete, or its name has no public address. `error` has the status or the code. What may pass is tried again for MEDIA_RETRY_MS.',
    'Check the URL and send a new message.',
  ),
  media_fetch_timeout: temporary(
    'The host of the media URL did not send a complete response in time, also when it was asked again for MEDIA_RETRY_MS.',
    'Use a faster host and send a new message.',
  ),
  media_too_large: permanent(
    'The media file is larger than allowed for its type.',
    'Send a smaller file, or send it as a document.',
  ),
  media_type_mismatch: permanent(
    'The content of the file does not match the given type.',
    'Correct `type`, or convert the file.',
  ),
  media_url_forbidden: permanent(
    'The media URL, or a redirect from it, points to an address that is not public.',
    'Use a public URL or a data URL.',
  ),
  invalid_media: permanent('The media file is empty, broken or was removed.', 'Correct the file.'),
  upload_not_found: permanent(
    'The uploaded file does not exist any more.',
    'Upload it again with `upload-media`, and send a new message.',
  ),
  upload_unavailable: temporary(
    'The uploaded file could not be read.',
    'Inform the operator: the media store may be unavailable.',
  ),
  message_expired: temporary(
    'The message could not be sent within MESSAGE_TTL_MS.',
    'Check the status of the sender, then send a new message.',
  ),
  rejected_by_whatsapp: permanent(
    'WhatsApp permanently refused the message. `error` contains its error code.',
    'Do not send it again unchanged.',
  ),
  message_ends_connection: permanent(
    'WhatsApp ended five working connections, each time when this message was sent. The message may have arrived.',
    'Do not send it again unchanged.',
  ),
  message_stops_workers: permanent(
    'Four workers stopped or lost their lease while preparing or sending this message.',
    'Do not send it again unchanged. The operator can find the cause in the log of the workers.',
  ),
}
