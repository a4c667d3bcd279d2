import type { RestrictionReason, StatusReason } from '@wagate/shared/statuses'
import { type Guidance, permanent, temporary } from './guidance.ts'

export const statusReasonGuide: Record<StatusReason, Guidance> = {
  account_disabled: permanent(
    'The account is disabled, so its senders are not connected. The link stays.',
    'Ask an ADMIN to enable the account. The sender then connects again.',
  ),
  logged_out: permanent(
    'The sender was logged out: by the API, or on the phone under Linked devices.',
    'Link it again with `generate-qr`.',
  ),
  sender_mismatch: permanent(
    'The phone that scanned the QR code has a different number than the sender.',
    'Scan with the phone of the sender.',
  ),
  qr_expired: permanent('The QR code was not scanned in time.', 'Call `generate-qr` again.'),
  connection_lost: temporary(
    'The connection to WhatsApp was lost. The gateway is reconnecting.',
    'No action is needed. If it persists, check the network of the workers.',
  ),
  connection_replaced: temporary(
    'Another program logged in with the same credentials. The gateway retries later.',
    'Stop the other program, for example a second installation that uses a copy of the database.',
  ),
  passkey_expired: permanent(
    'WhatsApp asked for the passkey of the account, and it was not used, or the codes were not compared, in time.',
    'Call `generate-qr` again, with a browser at hand.',
  ),
  proxy_failed: temporary(
    'The proxy of the sender gives no connection to WhatsApp. `status_detail` says why, if known: the HTTP status of its answer (407: it refuses the user name or password), the code of a system error such as ECONNREFUSED, timeout or forbidden_address. The gateway keeps trying, and never connects without it.',
    'Check the proxy, or set another one with `set-device`.',
  ),
  blocked_by_whatsapp: permanent(
    'WhatsApp has locked the account (error 403). The gateway does not log in again until you act. `status_detail` has the violation that WhatsApp names.',
    'Open WhatsApp on the phone and follow its instructions. Then link it again with `generate-qr` and `force`.',
  ),
  banned_by_whatsapp: permanent(
    'WhatsApp has banned the number (error 406). The gateway does not log in again until you act.',
    'Appeal in WhatsApp on the phone. Once it works there again, link it with `generate-qr` and `force`.',
  ),
  temporarily_banned: temporary(
    'WhatsApp has temporarily banned the number (error 402). The gateway does not log in before `login_after`. `status_detail` has the cause that WhatsApp names.',
    'Wait: the gateway logs in after that time. Send fewer messages to people who did not ask for them.',
  ),
  client_outdated: temporary(
    'WhatsApp refuses the version of the client (error 405 or 409). The gateway retries with another version, or after `login_after`.',
    'No action is needed with WHATSAPP_VERSION=auto. Otherwise ask the operator to set a newer version.',
  ),
  multi_device_mismatch: temporary(
    'The account does not support linked devices (error 411). The gateway retries after `login_after`.',
    'Update WhatsApp on the phone.',
  ),
  whatsapp_unavailable: temporary(
    'WhatsApp refuses connections for now (`status_detail` has its error, such as 429 or 503). The gateway retries after growing pauses of up to 20 minutes.',
    'No action is needed.',
  ),
}

export const restrictionReasonGuide: Record<RestrictionReason, Guidance> = {
  reach_out_time_lock: temporary(
    'WhatsApp forbids the sender to write to new contacts for a time.',
    'Wait. Write to fewer people who did not ask for it.',
  ),
  new_chat_cap: temporary(
    'The sender has used up the new chats that WhatsApp allows in a cycle (error 475).',
    'Wait for the next cycle, or let contacts write first.',
  ),
  unconfirmed: temporary(
    'WhatsApp refused a first message (error 463) and did not answer whether the sender is restricted. The gateway waits RESTRICTION_PAUSE_MS.',
    'No action is needed.',
  ),
}
