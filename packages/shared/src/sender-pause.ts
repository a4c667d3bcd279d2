/** `hold`: messages are accepted and wait. `refuse`: new ones are refused as well. */
export const pauseModes = ['hold', 'refuse'] as const
export type PauseMode = (typeof pauseModes)[number]
