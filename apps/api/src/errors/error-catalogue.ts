import { type Guidance, permanent, temporary } from './guidance.ts'
import type { RequestErrorCode } from './request-errors.ts'

const afterRetryAfter = 'Retry after the number of seconds in `Retry-After`, with the same idempotency key.'

export const requestErrorGuide: Record<RequestErrorCode, Guidance> = {
  invalid_parameter: permanent(
    'A parameter has an invalid value, or the request is not valid HTTP.',
    'Correct the parameters that `details` names.',
  ),
  missing_parameter: permanent('A required parameter is missing.', 'Send those that `details` names.'),
  malformed_json: permanent(
    'The body is not a JSON object in UTF-8, or not a valid form.',
    'Send a valid JSON object.',
  ),
  duplicate_parameter: permanent(
    'A parameter appears twice in the query or the body, or has different values in both.',
    'Send each parameter once.',
  ),
  conflicting_api_keys: permanent('The request contains two different API keys.', 'Send one API key.'),
  prefetch_refused: permanent(
    'A browser or a proxy tried to prefetch a URL that changes state.',
    'Use POST, or turn off prefetching for this URL.',
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
  session_ended: permanent(
    'The session has ended: signed out, not used for a day, two weeks old, or ended by a new password.',
    'Sign in again.',
  ),
  admin_required: permanent(
    'The operation requires the API key of an ADMIN.',
    'Use the API key of an ADMIN account.',
  ),
  credential_not_allowed: permanent(
    'The operation does not accept this kind of credential: a one-time link or its session cannot do what an API key can, and an API key opens no link.',
    'Use the API key of an account, or for `open-link` the secret of the link.',
  ),
  account_expired: permanent(
    'The account has expired and is read-only.',
    'Ask an ADMIN to extend the account with `update-user`.',
  ),
  account_disabled: permanent(
    'An ADMIN has disabled the account, or it is being deleted. Its senders are not connected.',
    'Ask an ADMIN to enable the account with `update-user` and `disabled=false`.',
  ),
  wrong_password: permanent(
    'The email address or the password is wrong.',
    'Correct them, or choose a new password with `forgot-password`.',
  ),
  sign_up_closed: permanent(
    'People cannot sign up or in: `SIGN_UP` is off, or admits only those whom an ADMIN invites.',
    'Ask an ADMIN for an account or an invitation.',
  ),
  origin_refused: permanent(
    'A page of another site has made the request.',
    'Open the gateway at its own address, `PUBLIC_URL`.',
  ),
  device_limit_reached: permanent(
    'The account has reached its device limit, `devices_allowed`.',
    'Delete a device, or ask an ADMIN to raise `devices_allowed`.',
  ),
  key_limit_reached: permanent('The account has reached its limit of API keys.', 'Revoke a key first.'),
  webhook_limit_reached: permanent(
    'The account has reached its limit of webhooks.',
    'Delete one with `delete-webhook`, or change one with its `webhook_id`.',
  ),
  upload_limit_reached: permanent(
    'The account has reached a limit of uploaded files, which `error` names: their number, or their bytes.',
    'Use a file several times instead of uploading it again, or wait until others expire.',
  ),
  media_url_forbidden: permanent(
    'The URL points to an address that is not public, or is not http or https.',
    'Use a public URL or a data URL.',
  ),
  media_link_invalid: permanent(
    'The link to a received file is not valid, or has expired.',
    'Read the message again, which has a new link.',
  ),
  media_not_found: permanent(
    'The account has no received message with a file under this id.',
    'Check the id. Messages that were sent have no file here.',
  ),
  upload_not_found: permanent(
    'The account has no uploaded file under this `media_id`, or it has expired, or will have when the message is to be sent.',
    'Check the id, or upload the file again with `upload-media`.',
  ),
  proof_not_found: permanent(
    'There is no deletion with this proof, or it was canceled.',
    'Use the `proof` that `delete-account` or `delete-user` has returned.',
  ),
  media_unavailable: permanent(
    'The gateway does not have the file of this received message. `error` contains the reason, as `media.reason` of the message does.',
    'Ask the sender to send the file again. After its retention time, a file is deleted.',
  ),
  media_pending: temporary(
    'The gateway is downloading the file of this received message.',
    'Retry after the number of seconds in `Retry-After`, or wait for the event `media.stored`.',
  ),
  range_not_satisfiable: permanent(
    'The header `Range` names bytes behind the end of the file.',
    'Request a range within the size that `Content-Range` names.',
  ),
  not_found: permanent('No such path.', 'Check the path.'),
  sender_not_found: permanent(
    'The account has no such sender.',
    'Check the number, or add the sender with `create-device`.',
  ),
  device_not_found: permanent('The account has no such device.', 'Check the ID with `devices`.'),
  message_not_found: permanent(
    'The account has no such message, or the message is older than the retention period.',
    'Check the ID.',
  ),
  cursor_expired: permanent(
    'Events that follow this cursor were deleted after their retention period.',
    'Omit `after` to continue with the oldest event that is kept.',
  ),
  key_not_found: permanent('The account has no such API key.', 'Check the ID with `keys`.'),
  session_not_found: permanent(
    'The account has no such open session.',
    'Check the ID with `sessions`. Sessions that have ended are not found.',
  ),
  user_not_found: permanent('No such account.', 'Check the ID with `users`.'),
  webhook_not_found: permanent('The account has no such webhook.', 'Check the ID with `webhooks`.'),
  method_not_allowed: permanent(
    'The path does not support this method.',
    'Use a method from the header `Allow`.',
  ),
  request_timeout: temporary(
    'The complete request did not arrive in time.',
    'Retry over a faster connection, with the same idempotency key.',
  ),
  sender_not_connected: permanent(
    'The sender is not linked to WhatsApp.',
    'Call `generate-qr` and scan the QR code with the phone of the sender.',
  ),
  number_unknown: permanent(
    'The operation needs the phone number of the contact, and WhatsApp has told only its LID.',
    'Ask the contact for the number, or wait until WhatsApp tells it: messages of the contact then show it.',
  ),
  sender_blocked: permanent(
    'WhatsApp does not let the sender connect. `error` names the reason, which is also the `status_reason` of the device.',
    'Open WhatsApp on the phone of the sender. Once it works there again, re-link the sender with `generate-qr` and `force`.',
  ),
  sender_paused: permanent(
    'The account has paused the sender with the mode `refuse`. `error` says until when.',
    'Call `resume-sender`, or `pause-sender` with `mode=hold`, which accepts messages that then wait.',
  ),
  already_connected: permanent(
    'The sender is already linked.',
    'No action is needed. Use `force` to log it out and link it again.',
  ),
  pairing_code_refused: permanent(
    'WhatsApp refused to give out a pairing code for this number.',
    'Check `sender`, or scan the QR code that `generate-qr` returns.',
  ),
  proxy_failed: permanent(
    'The proxy of the sender gives no connection to WhatsApp, so there is no code.',
    'Check the proxy, or set another one with `set-device`.',
  ),
  passkey_required: permanent(
    'A phone has scanned, and WhatsApp asks for the passkey of its account: there is no code to scan any more.',
    'Continue with `passkey-challenge`, or start again with `force`.',
  ),
  passkey_confirmation_required: permanent(
    'A phone has scanned and the passkey was accepted: there is no code to scan any more.',
    'Compare the code of `passkey-challenge` with the phone and call `passkey-confirm`, or start again with `force`.',
  ),
  no_passkey_pending: permanent(
    'WhatsApp does not ask for a passkey of this sender now.',
    'Follow the status of the sender. If it is `disconnected`, start again with `generate-qr`.',
  ),
  passkey_refused: permanent(
    'WhatsApp did not accept the passkey, or the phone did not answer.',
    'Make the assertion again on https://web.whatsapp.com, with the passkey of this account and the present challenge.',
  ),
  email_exists: permanent('An account with this email already exists.', 'Use another email.'),
  last_key: permanent('This is the last usable key of your account.', 'Create another key first.'),
  last_admin: permanent('The change would leave no active ADMIN.', 'Make another account an ADMIN first.'),
  account_deleting: permanent(
    'The account is being deleted, or its deletion has been requested before.',
    'Until it is due, an ADMIN can cancel the deletion with `update-user` and `disabled=false`. Afterwards, create a new account.',
  ),
  not_cancelable: permanent(
    'The message is being sent or has reached its final status.',
    'No action is possible: only `queued` and `scheduled` messages can be canceled.',
  ),
  webhook_disabled: permanent(
    'The webhook is disabled. `webhooks` says why.',
    'Enable it with `set-webhook` and its `webhook_id`.',
  ),
  former_secret_valid: permanent(
    'The webhook was rotated before, and its former secret still signs as promised.',
    'Wait until its time is over, or end all former secrets at once with `overlap_hours=0`.',
  ),
  public_url_missing: permanent(
    'The gateway does not know under which address people reach it, so it makes no links.',
    'Ask the operator to set `PUBLIC_URL`.',
  ),
  mail_link_invalid: permanent(
    'The link of the mail has been used, has expired, or is incomplete.',
    'Ask for a new mail.',
  ),
  link_used: permanent('The one-time link has been opened before.', 'Create a new one with `create-link`.'),
  link_expired: permanent('The one-time link has expired.', 'Create a new one with `create-link`.'),
  payload_too_large: permanent(
    'The body or the media file is larger than allowed.',
    'Send less data, or send media as an http(s) URL.',
  ),
  unsupported_media_type: permanent(
    'The content type, character set or compression of the body is not supported.',
    'Send uncompressed `application/json` in UTF-8, or a form.',
  ),
  idempotency_key_reused: permanent(
    'The idempotency key was used for a request with different parameters within 24 hours.',
    'Use a new key for a new request.',
  ),
  rate_limited: temporary('Too many requests. `limit` names the limit that was met.', afterRetryAfter),
  queue_full: temporary(
    'Too many messages are waiting for this sender, too many bytes of data: URLs for this account, or too many requests for this webhook.',
    afterRetryAfter,
  ),
  headers_too_large: permanent(
    'The headers or the URL are larger than 64 KiB.',
    'Send the parameters in the body of a POST.',
  ),
  internal_error: temporary(
    'A bug in the gateway. The log contains it under the `request_id`.',
    'Report the `request_id` to the operator. Retry with the same idempotency key.',
  ),
  unavailable: temporary('The gateway is temporarily unavailable.', afterRetryAfter),
  storage_full: temporary(
    'The gateway has run out of storage.',
    'Inform the operator. Retry later, with the same idempotency key.',
  ),
  qr_timeout: temporary('No QR code or pairing code came in time, or the pairing was ended.', 'Call again.'),
}
