import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import type { Connection } from '../wire/connection.ts'
import { streamErrorOfAck } from './stream-error.ts'

const lookEveryMs = 250

/** While the fault `ack_required` is in force, ends connections that do not acknowledge a message in time. */
export function demandAcks(network: Network, device: Device, connection: Connection): void {
  const timer = setInterval(() => {
    if (connection.closed || device.connection !== connection) return clearInterval(timer)
    const limitMs = network.faults.find('ack_required', device.phone.number)?.ms
    if (limitMs === undefined) return
    for (const [key, sentAtMs] of device.sentAtMs) {
      const stanza = device.pending.get(key)
      if (stanza?.tag !== 'message' || device.refused.has(key)) continue
      if (performance.now() - sentAtMs < limitMs) continue
      network.counters.missing_acks += 1
      return streamErrorOfAck(connection, {
        class: 'message',
        id: stanza.attrs.id ?? '',
        from: stanza.attrs.from ?? '',
      })
    }
  }, lookEveryMs)
  timer.unref()
}
