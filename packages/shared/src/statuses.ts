export const deviceStatuses = ['connected', 'disconnected', 'scanning'] as const
export type DeviceStatus = (typeof deviceStatuses)[number]

export const messageStatuses = [
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'canceled',
  'received',
] as const
export type MessageStatus = (typeof messageStatuses)[number]

export const mediaTypes = ['image', 'video', 'audio', 'document'] as const
export type MediaType = (typeof mediaTypes)[number]
export type MessageType = 'text' | MediaType | 'other'

export const roles = ['USER', 'ADMIN'] as const
export type Role = (typeof roles)[number]
