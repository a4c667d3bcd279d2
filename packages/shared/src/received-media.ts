export const mediaStates = ['pending', 'stored', 'unavailable'] as const
export type MediaState = (typeof mediaStates)[number]

/** Why the gateway does not have a file of a received message. Published: reasons are only added. */
export const mediaUnavailableReasons = [
  'expired',
  'too_large',
  'download_failed',
  'hash_mismatch',
  'quota',
  'disabled',
] as const
export type MediaUnavailableReason = (typeof mediaUnavailableReasons)[number]
