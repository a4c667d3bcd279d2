import { z } from 'zod'
import type { EventType } from '../event-types.ts'
import { pauseModes } from '../sender-pause.ts'
import { restrictionReasons, statusReasons, targetFaults, unlinkReasons } from '../statuses.ts'
import { deviceData, type EventKind, messageData, recipientData, webhookData } from './event-data.ts'
import { extensibleEnum } from './extensible-enum.ts'
import { changeFields, editedText, exampleChange, reaction, voteOptions } from './message-change.ts'

const expiresAt = z.iso.datetime()
const exampleEnd = '2026-01-31T13:00:00.000Z'
const statusReason = extensibleEnum(statusReasons)

/** What there is to say about each type of event, and what its `data` has. */
export const eventKinds: Record<EventType, EventKind> = {
  'message.accepted': messageData('The gateway has stored a message that it is to send'),
  'message.sent': messageData("WhatsApp's server has acknowledged the message"),
  'message.delivered': messageData('A device of the recipient has received the message'),
  'message.read': messageData('The recipient has read the message'),
  'message.played': messageData(
    'The recipient has listened to a voice message, or opened one that can be opened only once',
  ),
  'message.failed': messageData('The message was not sent: `error_code` says why'),
  'message.canceled': messageData('A caller canceled the message before it left'),
  'message.received': messageData('A contact has sent a message to the sender'),
  'message.reaction': messageData(
    'A contact has reacted to a message, or the account itself has, on its phone',
    { ...changeFields, reaction },
    { ...exampleChange, reaction: '👍' },
  ),
  'message.edited': messageData(
    'A contact has replaced the text of its message, or the account that of its own, on its phone',
    { ...changeFields, text: editedText },
    { ...exampleChange, from_me: false, text: 'At four, please.' },
  ),
  'message.deleted': messageData(
    'A contact has deleted its message for everyone, or the account its own, on its phone',
    changeFields,
    { ...exampleChange, from_me: false },
  ),
  'message.poll_vote': messageData(
    'A contact has voted in a poll, or the account itself has, on its phone',
    { ...changeFields, options: voteOptions },
    { ...exampleChange, options: ['Monday'] },
  ),
  'message.marked_read': messageData('A received message was marked as read, as mark-read had requested'),
  'message.sent_from_phone': messageData(
    'The account has written a message on its phone, or on another linked device: `message.source`',
  ),
  'message.read_on_phone': messageData('A received message was read on the phone of the account'),
  'media.stored': messageData('The file of a received message is stored: `message.media.url` leads to it'),
  'media.unavailable': messageData(
    'The file of a received message is not available: `message.media.reason` says why',
  ),
  'device.connected': deviceData(
    'The sender is logged in at WhatsApp, for the first time or after `device.disconnected`',
  ),
  'device.disconnected': deviceData(
    'The sender is not connected any more, has another reason for it, or was not linked in time',
    {
      reason: statusReason.describe('As `status_reason` of the device'),
      detail: z.string().optional().describe('As `status_detail` of the device'),
      login_after: z.iso.datetime().optional().describe('The gateway does not log the sender in before'),
    },
    { reason: 'temporarily_banned', detail: 'groups', login_after: '2026-01-31T18:00:00.000Z' },
  ),
  'device.qr': deviceData(
    'A QR code can be scanned. The first lasts up to a minute, and later ones change every 20 seconds without another event: get the current one with pairing-status. Recorded again when WhatsApp has made the code that was shown useless before its time',
    { expires_at: expiresAt.describe('End of the pairing, if no caller extends it') },
    { expires_at: exampleEnd },
  ),
  'device.pairing_code': deviceData(
    'WhatsApp has given out a pairing code. pair-code returns it',
    { expires_at: expiresAt.describe('End of the validity of the code') },
    { expires_at: exampleEnd },
  ),
  'device.passkey_required': deviceData(
    'WhatsApp asks for the passkey of the account, or to compare the codes after that',
    {
      step: extensibleEnum(['passkey_required', 'passkey_confirmation_required']).describe(
        'New status of the device',
      ),
      expires_at: expiresAt.describe('End of the time for this step'),
    },
    { step: 'passkey_required', expires_at: exampleEnd },
  ),
  'device.restricted': deviceData(
    'WhatsApp lets the sender write to no new contacts',
    {
      reason: extensibleEnum(restrictionReasons).describe('As `restriction_reason` of the device'),
      until: z.iso.datetime().describe('Without another event, the restriction ends then'),
    },
    { reason: 'reach_out_time_lock', until: exampleEnd },
  ),
  'device.restriction_ended': deviceData('WhatsApp has ended the restriction before its time'),
  'device.quota': deviceData(
    'WhatsApp counts the new contacts of the sender, and the count has changed',
    {
      new_chats_used: z.int().nullable().describe('New contacts in the present cycle, if WhatsApp has said'),
      new_chats_total: z.int().nullable().describe('New contacts that WhatsApp allows in the cycle'),
      new_chats_capped: z.boolean().describe('No new contacts until the cycle ends'),
      until: z.iso.datetime().describe('End of the cycle'),
    },
    { new_chats_used: 12, new_chats_total: 30, new_chats_capped: false, until: exampleEnd },
  ),
  'device.unlinked': deviceData(
    'The link of the sender has ended, or was refused',
    {
      reason: extensibleEnum(unlinkReasons).describe(
        '`logged_out`: on the phone or by WhatsApp. `sender_mismatch`: another phone than that of the sender has scanned. The others: on request',
      ),
    },
    { reason: 'logged_out' },
  ),
  'recipient.opted_out': recipientData('The account sends no more messages to the number'),
  'recipient.opted_in': recipientData('The account sends messages to the number again'),
  'device.paused': deviceData(
    'A caller has paused the sender, or changed its pause',
    {
      mode: extensibleEnum(pauseModes).describe('As the parameter of `pause-sender`'),
      until: z.iso
        .datetime()
        .nullable()
        .describe('Without another event, the pause ends then. null: with `resume-sender`'),
    },
    { mode: 'hold', until: exampleEnd },
  ),
  'device.resumed': deviceData('A caller has ended the pause of the sender'),
  'webhook.disabled': webhookData(
    'The gateway delivers no more events to this webhook until a caller enables it',
    {
      reason: extensibleEnum(targetFaults).describe(
        '`gone`: its target has answered 410. `failing`: all requests have failed for five days',
      ),
    },
    { reason: 'gone' },
  ),
  'webhook.test': webhookData('A caller tests this webhook. No other webhook gets the event'),
}

/** The `data` of any type. */
export const anyData = z
  .union([...new Set(Object.values(eventKinds).map(({ data }) => data))])
  .describe('Depends on the type: see docs/event-types.md')
