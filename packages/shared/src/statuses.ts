export const deviceStatuses = [
  'connected',
  'disconnected',
  'scanning',
  'passkey_required',
  'passkey_confirmation_required',
] as const
export type DeviceStatus = (typeof deviceStatuses)[number]

/** The part of a pairing that WhatsApp adds for some accounts. It is also the status of the device. */
export type PasskeyStep = Extract<DeviceStatus, `passkey_${string}`>

/** Why a device is, or may soon be, disconnected. */
export const statusReasons = [
  'account_disabled',
  'banned_by_whatsapp',
  'blocked_by_whatsapp',
  'client_outdated',
  'connection_lost',
  'connection_replaced',
  'logged_out',
  'multi_device_mismatch',
  'passkey_expired',
  'proxy_failed',
  'qr_expired',
  'sender_mismatch',
  'temporarily_banned',
  'whatsapp_unavailable',
] as const
export type StatusReason = (typeof statusReasons)[number]

/**
 * Why WhatsApp keeps a sender away for good, as far as the gateway can tell: a person has to do something. Sends are
 * refused. Every other reason of a status may pass without one.
 */
export const blockingReasons = [
  'blocked_by_whatsapp',
  'banned_by_whatsapp',
  'multi_device_mismatch',
] as const satisfies StatusReason[]

/** What WhatsApp bans a number for, by the code that comes with the ban. */
export const banCauses: Readonly<Record<string, string>> = {
  101: 'too_many_people',
  102: 'blocked_by_many',
  103: 'groups',
  104: 'same_message',
  106: 'broadcast',
}

/** Why a link has ended. `logged_out`: on the phone, or by WhatsApp. */
export const unlinkReasons = [
  'logged_out',
  'logout_requested',
  'pairing_requested',
  'device_deleted',
  'sender_mismatch',
] as const
export type UnlinkReason = (typeof unlinkReasons)[number]

/** Why WhatsApp lets a sender write to no new contacts. */
export const restrictionReasons = ['reach_out_time_lock', 'new_chat_cap', 'unconfirmed'] as const
export type RestrictionReason = (typeof restrictionReasons)[number]

/** Why a webhook is disabled without a request of its account. */
export const targetFaults = ['gone', 'failing'] as const
export type TargetFault = (typeof targetFaults)[number]

export const webhookDisabledReasons = ['by_caller', ...targetFaults] as const
export type WebhookDisabledReason = (typeof webhookDisabledReasons)[number]

/** Of a message that the gateway sends. */
export const outgoingStatuses = [
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'canceled',
] as const
export const messageStatuses = [...outgoingStatuses, 'received'] as const
export type MessageStatus = (typeof messageStatuses)[number]

export const roles = ['USER', 'ADMIN'] as const
export type Role = (typeof roles)[number]
