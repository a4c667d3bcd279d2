import type { MessageErrorCode } from '@wagate/shared/message-errors'
import type { StatusReason } from '@wagate/shared/statuses'
import type { RequestErrorCode } from './request-errors.ts'

/** What a code tells people. `isTemporary`: the same request or message may succeed later, without any change. */
export type Guidance = { meaning: string; action: string; isTemporary: boolean }

const permanent = (meaning: string, action: string): Guidance => ({ meaning, action, isTemporary: false })
const temporary = (meaning: string, action: string): Guidance => ({ meaning, action, isTemporary: true })

const afterRetryAfter =
  'Repeat the request after the seconds in `Retry-After`, with the same idempotency key.'

export const requestErrorGuide: Record<RequestErrorCode, Guidance> = {
  invalid_parameter: permanent(
    'A parameter has a value that is not accepted, or the request is not valid HTTP.',
    'Correct the parameters that `details` names.',
  ),
  missing_parameter: permanent(
    'A required parameter is missing.',
    'Give the parameters that `details` names.',
  ),
  malformed_json: permanent('The body is not a JSON object in UTF-8.', 'Send a valid JSON object.'),
  duplicate_parameter: permanent(
    'One parameter has two values: twice in the query or the body, or in both.',
    'Give each parameter once.',
  ),
  conflicting_api_keys: permanent('The request carries two different API keys.', 'Send one API key.'),
  prefetch_refused: permanent(
    'A browser or a proxy fetched a URL ahead of time that would change something.',
    'Use POST, or turn prefetching off for this URL.',
  ),
  invalid_media: permanent(
    'The data URL cannot be decoded, or its file is not of the given type.',
    'Correct the data URL or `type`.',
  ),
  missing_api_key: permanent(
    'The request has no API key.',
    'Send the key in the header `x-api-key`, as `Authorization: Bearer` or as `api_key`.',
  ),
  invalid_api_key: permanent(
    'The API key is unknown or revoked.',
    'Check the key. Create a new one with `create-key` if it was revoked.',
  ),
  expired_api_key: permanent('The API key has expired.', 'Use another key, or create one with `create-key`.'),
  admin_required: permanent('The operation needs the key of an ADMIN.', 'Use the key of an ADMIN account.'),
  account_expired: permanent(
    'The account has expired. It can read what is its own, and change nothing.',
    'Ask an ADMIN to extend the account with `update-user`.',
  ),
  device_limit_reached: permanent(
    'The account has as many devices as `devices_allowed` permits.',
    'Delete a device, or ask an ADMIN to raise `devices_allowed`.',
  ),
  key_limit_reached: permanent('The account has as many keys as it may have.', 'Revoke a key first.'),
  media_url_forbidden: permanent(
    'The URL points to an address that is not public, or is not http or https.',
    'Use a public URL or a data URL.',
  ),
  not_found: permanent('There is no such path.', 'Check the path.'),
  sender_not_found: permanent(
    'The account has no such sender.',
    'Check the number, or add the sender with `create-device`.',
  ),
  device_not_found: permanent('The account has no such device.', 'Check the id with `devices`.'),
  message_not_found: permanent(
    'The account has no such message, or the message is older than the retention.',
    'Check the id.',
  ),
  key_not_found: permanent('The account has no such key.', 'Check the id with `keys`.'),
  user_not_found: permanent('There is no such account.', 'Check the id with `users`.'),
  method_not_allowed: permanent(
    'The path does not take this method.',
    'Use a method that the header `Allow` names.',
  ),
  request_timeout: temporary(
    'The request did not arrive completely in time.',
    'Repeat the request over a faster connection, with the same idempotency key.',
  ),
  sender_not_connected: permanent(
    'No phone is linked to the sender.',
    'Link it: call `generate-qr` and scan the code.',
  ),
  sender_blocked: permanent(
    'WhatsApp does not let the sender connect. The sentence names the reason, which is also the status reason of the device.',
    'Open WhatsApp on the phone of the sender. When it works there again, link it with `generate-qr` and `force`.',
  ),
  already_connected: permanent(
    'The sender is linked.',
    'Nothing is left to do. Use `force` to log it out and link it again.',
  ),
  email_exists: permanent('There is an account with this email.', 'Use another email.'),
  last_key: permanent('It is the last usable key of the own account.', 'Create another key first.'),
  last_admin: permanent(
    'No account would be left that can act as an ADMIN.',
    'Make another account an ADMIN first.',
  ),
  not_cancelable: permanent(
    'The message is being sent, or its outcome is known.',
    'Nothing can be done: a message is canceled while it is `queued` or `scheduled`.',
  ),
  payload_too_large: permanent(
    'The body or the media file is larger than allowed.',
    'Send less, or give media as an http(s) URL.',
  ),
  unsupported_media_type: permanent(
    'The content type, the character set or the compression of the body is not supported.',
    'Send `application/json` in UTF-8, not compressed.',
  ),
  idempotency_key_reused: permanent(
    'The idempotency key was used for a request with other parameters within 24 hours.',
    'Use a new key for a new request.',
  ),
  rate_limited: temporary('Too many requests.', afterRetryAfter),
  queue_full: temporary(
    'Too many messages wait for this sender, or too many bytes of data: URLs for this account.',
    afterRetryAfter,
  ),
  headers_too_large: permanent(
    'The headers or the URL are larger than 64 KiB.',
    'Send the parameters in the body of a POST.',
  ),
  internal_error: temporary(
    'A bug of the gateway. The log has it under `request_id`.',
    'Tell the operator the `request_id`. Repeat the request with the same idempotency key.',
  ),
  unavailable: temporary('The gateway cannot answer at the moment.', afterRetryAfter),
  storage_full: temporary(
    'The gateway has no storage left.',
    'Tell the operator. Repeat the request later, with the same idempotency key.',
  ),
  qr_timeout: temporary('No QR code came in time, or the pairing was ended.', 'Call `generate-qr` again.'),
}

export const messageErrorGuide: Record<MessageErrorCode, Guidance> = {
  recipient_not_on_whatsapp: permanent(
    'WhatsApp says that the number has no account.',
    'Check the number. Do not send to it again.',
  ),
  sender_logged_out: permanent(
    'The sender was logged out after the message was accepted.',
    'Link the sender again and send a new message.',
  ),
  sender_restricted: temporary(
    'WhatsApp refused a first message to this contact (error 463).',
    'Do not repeat it soon: that makes a restriction worse. Let the contact write first.',
  ),
  media_fetch_failed: temporary(
    'The host of the media URL refused, or its answer was not complete.',
    'Check the URL and send a new message.',
  ),
  media_fetch_timeout: temporary(
    'The host of the media URL did not answer completely in time.',
    'Use a faster host and send a new message.',
  ),
  media_too_large: permanent(
    'The media file is larger than allowed for its type.',
    'Send a smaller file, or send it as a document.',
  ),
  media_type_mismatch: permanent(
    'The bytes of the file are not of the given type.',
    'Correct `type`, or convert the file.',
  ),
  media_url_forbidden: permanent(
    'The media URL, or a redirect of it, leads to an address that is not public.',
    'Use a public URL or a data URL.',
  ),
  invalid_media: permanent('The media file is empty, broken or was removed.', 'Correct the file.'),
  message_expired: temporary(
    'The message could not be sent within the time allowed (MESSAGE_TTL_MS).',
    'Look at the status of the sender, then send a new message.',
  ),
  rejected_by_whatsapp: permanent(
    'WhatsApp refused the message for good. `error` names its code.',
    'Do not repeat it unchanged.',
  ),
  message_ends_connection: permanent(
    'WhatsApp ended five connections that had worked, each when this message was sent. It may have arrived.',
    'Do not repeat it unchanged.',
  ),
  message_stops_workers: permanent(
    'Three workers stopped, or lost their lease, while they prepared or sent this message.',
    'Do not repeat it unchanged. An operator finds the cause in the log of the workers.',
  ),
}

export const statusReasonGuide: Record<StatusReason, Guidance> = {
  logged_out: permanent(
    'The sender was logged out: by the API, or on the phone under Linked devices.',
    'Link it again with `generate-qr`.',
  ),
  sender_mismatch: permanent(
    'The phone that scanned has another number than the sender.',
    'Scan with the phone of the sender.',
  ),
  qr_expired: permanent('Nobody scanned the QR code in time.', 'Call `generate-qr` again.'),
  connection_lost: temporary(
    'The connection to WhatsApp is lost. The gateway reconnects.',
    'Nothing, unless it lasts: then check the network of the workers.',
  ),
  connection_replaced: temporary(
    'Another program logged in with the same credentials. The gateway tries again later.',
    'Stop the other program, for example a second installation with a copy of the database.',
  ),
  blocked_by_whatsapp: temporary(
    'WhatsApp refuses the login of this account (error 403). The gateway tries again later.',
    'Open WhatsApp on the phone and follow what it says there.',
  ),
  banned_by_whatsapp: temporary(
    'WhatsApp has banned the number (error 406). The gateway tries again every half hour.',
    'Appeal in WhatsApp on the phone, or log the sender out with `logout-device`.',
  ),
  temporarily_banned: temporary(
    'WhatsApp has banned the number for some time (error 402). The gateway tries again every half hour.',
    'Wait until the ban is over. Write to fewer people who did not ask for it.',
  ),
  client_outdated: temporary(
    'WhatsApp refuses this version of the client (error 405). The gateway tries again later.',
    'Update the gateway, or set WHATSAPP_VERSION.',
  ),
  multi_device_mismatch: temporary(
    'WhatsApp says that the account does not take linked devices (error 411). The gateway tries again later.',
    'Update WhatsApp on the phone.',
  ),
}
