import { createHmac } from 'node:crypto'
import type { Network } from './network.ts'
import type { Phone } from './phone.ts'

/** The salt that WhatsApp gives to an account, for the proofs of its first messages. Derived, so it needs no storage. */
export function saltOf({ state }: Network, { number, saltsRenewed }: Phone): Buffer {
  return createHmac('sha256', state.rootSeed).update(`nct salt ${number} ${saltsRenewed}`).digest()
}
