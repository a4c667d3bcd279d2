import { setTimeout as delay } from 'node:timers/promises'
import { serverJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import { noteUnknown } from '../network/note-unknown.ts'
import { newId } from '../network/notify.ts'
import type { Pairing } from '../network/pairing.ts'
import { type Node, node, nowSeconds } from '../wire/node.ts'
import { demandAcks } from './demand-acks.ts'

/** Before the connection of a companion that was linked ends. */
const graceMs = 1000
/** A companion that takes longer has forgotten it. */
const acknowledgeMsMax = 10_000

/** Notifies a companion that is being linked. It acknowledges that as a linked one does. */
export function notifyPairing(pairing: Pairing, type: string, content: Node[]): void {
  const id = newId()
  let acknowledge = () => {}
  const acknowledged = new Promise<void>((resolve) => {
    acknowledge = resolve
  })
  pairing.notified.set(id, { type, atMs: performance.now(), acknowledged, acknowledge })
  pairing.connection.send(node('notification', { from: serverJid, type, id, t: nowSeconds() }, content))
}

/** Returns the type of the notification that is acknowledged. */
export function readPairingAck({ notified }: Pairing, { attrs }: Node): string | undefined {
  if (attrs.class !== 'notification' || attrs.id === undefined) return undefined
  const found = notified.get(attrs.id)
  notified.delete(attrs.id)
  found?.acknowledge()
  return found?.type
}

/** Of the notifications to a companion that is being linked. */
export function demandPairingAcks(network: Network, { connection, notified }: Pairing): void {
  demandAcks(network, { connection }, () =>
    [...notified].map(([id, { atMs }]) => ({ class: 'notification', id, from: serverJid, atMs }) as const),
  )
}

/** Resolves when the companion has acknowledged everything, or has had the time for it. */
export async function untilAcknowledged({ notified }: Pairing): Promise<void> {
  const all = Promise.all([...notified.values()].map(({ acknowledged }) => acknowledged))
  await Promise.race([all, delay(graceMs, undefined, { ref: false })])
}

/** Call when the connection has ended. A companion that was cut off may not have had the time. */
export function noteMissingAcks(network: Network, { isLinked, notified }: Pairing): void {
  for (const { type, atMs } of notified.values())
    if (isLinked || performance.now() - atMs > acknowledgeMsMax)
      noteUnknown(network, { kind: `${type} without ack`, sender: '' })
}
