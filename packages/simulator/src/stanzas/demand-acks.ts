import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import type { Connection } from '../wire/connection.ts'
import { streamErrorOfAck } from './stream-error.ts'

const lookEveryMs = 250

/** A stanza that awaits its ack. `atMs`: time of the process. */
type Awaited = Parameters<typeof streamErrorOfAck>[1] & { atMs: number }

/**
 * While the fault `ack_required` is in force for the sender, ends the connection when one of the stanzas of `list` was not
 * acknowledged in time. Undefined ends the watch.
 */
export function demandAcks(
  { faults, counters }: Network,
  { connection, sender }: { connection: Connection; sender?: string },
  list: () => Iterable<Awaited> | undefined,
): void {
  const timer = setInterval(() => {
    const awaited = connection.closed ? undefined : list()
    if (!awaited) return clearInterval(timer)
    const limitMs = faults.find('ack_required', sender)?.ms
    if (limitMs === undefined) return
    for (const { atMs, ...stanza } of awaited) {
      if (performance.now() - atMs < limitMs) continue
      counters.missing_acks += 1
      return streamErrorOfAck(connection, stanza)
    }
  }, lookEveryMs)
  timer.unref()
}

/** Of the messages to a companion that is logged in over this connection. */
export function demandMessageAcks(network: Network, device: Device, connection: Connection): void {
  function* list(): Generator<Awaited> {
    for (const [key, atMs] of device.sentAtMs) {
      const stanza = device.pending.get(key)
      if (stanza?.tag !== 'message' || device.refused.has(key)) continue
      yield { class: 'message', id: stanza.attrs.id ?? '', from: stanza.attrs.from ?? '', atMs }
    }
  }
  demandAcks(network, { connection, sender: device.phone.number }, () =>
    device.connection === connection ? list() : undefined,
  )
}
