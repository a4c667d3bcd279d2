import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { countUnknown } from '../network/stats.ts'
import { child, type Node } from '../wire/node.ts'
import { ciphertexts } from './ciphertexts.ts'

/** Counts, among the unknown stanzas, what no client of WhatsApp does. It works all the same. */
export function noteFlaws({ counters }: Network, device: Device, stanza: Node): void {
  if (!device.isAnnounced) countUnknown(counters, 'message before passive active')
  const isFirst = ciphertexts(stanza).some(({ enc }) => enc.attrs.type === 'pkmsg')
  // Without it, recipients do not know that the sender is a device of its account.
  if (isFirst && !child(stanza, 'device-identity')) countUnknown(counters, 'pkmsg without device-identity')
}
