import type { Network } from '../network/network.ts'
import { noteUnknown } from '../network/note-unknown.ts'
import type { Device } from '../network/phone.ts'
import { child, type Node } from '../wire/node.ts'
import { ciphertexts } from './ciphertexts.ts'

/** Notes, among the unknown stanzas, what no client of WhatsApp does. It works all the same. */
export function noteFlaws(network: Network, device: Device, stanza: Node): void {
  const sender = device.phone.number
  if (!device.isAnnounced) noteUnknown(network, { kind: 'message before passive active', sender, stanza })
  const isFirst = ciphertexts(stanza).some(({ enc }) => enc.attrs.type === 'pkmsg')
  // Without it, recipients do not know that the sender is a device of its account.
  if (isFirst && !child(stanza, 'device-identity'))
    noteUnknown(network, { kind: 'pkmsg without device-identity', sender, stanza })
}
