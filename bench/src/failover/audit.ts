import type { LogLine } from '@wagate/devnet/harness/phones'
import type { MessageFacts } from '@wagate/devnet/harness/records'
import type { Accepted } from './traffic.ts'

export type Audit = {
  accepted: number
  /** Accepted, and never acknowledged by the network. */
  lost: string[]
  /** On the wire again under the same WhatsApp id: the recipient's phone shows it once. */
  repeated: number
  /** On the wire under two WhatsApp ids, or without having been accepted: the recipient would see it. */
  doubled: string[]
  /** First arrivals that came before an earlier message of the same sender to the same recipient. */
  disordered: number
}

/** Compares what was accepted over HTTP with what arrived at the network. */
export function auditMessages(accepted: Accepted[], records: MessageFacts[], log: LogLine[]): Audit {
  const acknowledged = new Set(log.filter(({ ack }) => ack === 'ok').map((line) => line.wa_message_id))
  const waIds = new Map(records.map(({ id, waId }) => [id, waId]))
  const known = new Set(waIds.values())
  const lost = accepted.filter(({ messageId }) => !acknowledged.has(waIds.get(messageId) ?? ''))
  const arrivals = new Set(log.map((line) => line.wa_message_id))
  return {
    accepted: accepted.length,
    lost: lost.map(({ messageId }) => messageId),
    repeated: log.length - arrivals.size,
    doubled: [...arrivals].filter((waId) => !known.has(waId)),
    disordered: countDisordered(records, [...arrivals]),
  }
}

/** `records` in the order of acceptance, `arrivals` in that of the wire. */
function countDisordered(records: MessageFacts[], arrivals: string[]): number {
  const places = new Map(
    records.map(({ waId, sender, number }, place) => [waId, { place, pair: `${sender} ${number}` }]),
  )
  const latest = new Map<string, number>()
  let disordered = 0
  for (const waId of arrivals) {
    const known = places.get(waId)
    if (!known) continue
    const before = latest.get(known.pair) ?? -1
    if (known.place < before) disordered += 1
    latest.set(known.pair, Math.max(before, known.place))
  }
  return disordered
}
