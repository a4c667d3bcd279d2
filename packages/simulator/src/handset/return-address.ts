import { lidJid, pnJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'

/** Where stanzas of a handset to a companion come from, and its other address beside it. */
export type ReturnAddress = { from: string; sender_lid?: string; sender_pn?: string }

/**
 * Of the phone number or the LID, the one that the contact wrote to, unless the person hides the number or the fault
 * `addressing` names another.
 */
export function returnAddress(
  network: Network,
  phone: Phone,
  to: string,
  wroteTo: 'pn' | 'lid',
): ReturnAddress {
  const { number } = phone
  const fault = network.faults.strike('addressing', to, number)
  const addressing = fault?.code ?? (phone.hidesNumber ? 'lid_only' : wroteTo)
  if (addressing === 'pn_only') return { from: pnJid(number) }
  if (addressing === 'pn') return { from: pnJid(number), sender_lid: lidJid(number) }
  return { from: lidJid(number), ...(addressing === 'lid' && { sender_pn: pnJid(number) }) }
}
