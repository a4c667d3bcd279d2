/** `simulator` is packages/simulator. Links of one network are worth nothing on the other, which ends them. */
export const whatsAppNetworks = ['live', 'simulator'] as const
export type WhatsAppNetwork = (typeof whatsAppNetworks)[number]
