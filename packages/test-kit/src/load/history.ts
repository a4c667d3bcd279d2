import type { Sent } from './load.ts'
import type { LogLine } from './phones.ts'
import type { MessageFacts } from './records.ts'

/** What must not happen to messages during any failure of processes. Each list names the messages concerned. */
type Violations = {
  /** Accepted, and neither taken by the network nor failed with a code nor canceled by the client. */
  lost: string[]
  /** Two records of one request, or on the wire without a record: the recipient would see it twice. */
  doubled: string[]
  /** First arrivals before an earlier message of the same pair. */
  disordered: string[]
  /** Reported as sent, but neither the network acknowledged it nor the recipient. */
  dishonest: string[]
  /** More than one message of a sender that left through a connection after a newer one had sent. */
  overlapping: string[]
}

export type History = {
  accepted: number
  refused: number
  /** On the wire again under the same WhatsApp id, which a phone shows once. */
  repeated: number
  violations: Violations
}

/**
 * Compares the answers that a client got with the database and with the log of the network. `opened`: WhatsApp ids of messages that
 * a person has opened, which tells their sender that they arrived.
 */
export function auditHistory(
  sent: Sent[],
  records: MessageFacts[],
  log: LogLine[],
  opened: Iterable<string> = [],
): History {
  const accepted = sent.filter(({ messageId }) => messageId !== undefined)
  const recordOf = new Map(records.map((record) => [record.id, record]))
  const taken = log.filter(({ ack, receipt }) => ack === 'ok' || receipt)
  const acknowledged = new Set([...taken.map((line) => line.wa_message_id), ...opened])
  const arrivals = [...new Set(log.map((line) => line.wa_message_id))]
  const known = new Set(records.map(({ waId }) => waId))

  function isLost({ messageId, isCanceled }: Sent): boolean {
    const record = recordOf.get(messageId ?? '')
    if (record?.status === 'canceled') return !isCanceled
    if (record?.status === 'failed') return record.errorCode === null
    return !record || !acknowledged.has(record.waId)
  }

  return {
    accepted: accepted.length,
    refused: sent.length - accepted.length,
    repeated: log.length - arrivals.length,
    violations: {
      lost: accepted.filter(isLost).map(({ text }) => text),
      doubled: [
        ...repeats(records.map(({ body }) => body ?? '')),
        ...arrivals.filter((id) => !known.has(id)),
      ],
      disordered: findDisordered(accepted, recordOf, arrivals),
      dishonest: records
        .filter(
          ({ status, waId }) => ['sent', 'delivered', 'read'].includes(status) && !acknowledged.has(waId),
        )
        .map(({ id }) => id),
      overlapping: findOverlapping(log),
    },
  }
}

function repeats(values: string[]): string[] {
  const seen = new Set<string>()
  return values.filter((value) => seen.size === seen.add(value).size)
}

function findDisordered(accepted: Sent[], recordOf: Map<string, MessageFacts>, arrivals: string[]): string[] {
  // A scheduled message leaves when it is due, between the others.
  const inTurn = accepted.filter(({ sendAt }) => sendAt === undefined)
  const positions = new Map(
    inTurn.map(({ messageId, sender, number, text }, position) => [
      recordOf.get(messageId ?? '')?.waId,
      { position, pair: `${sender} ${number}`, text },
    ]),
  )
  const latest = new Map<string, number>()
  return arrivals.flatMap((waId) => {
    const known = positions.get(waId)
    if (!known) return []
    const before = latest.get(known.pair) ?? -1
    latest.set(known.pair, Math.max(before, known.position))
    return known.position < before ? [known.text] : []
  })
}

/** A former owner may have one encrypted message left, which it sends before it notices. */
function findOverlapping(log: LogLine[]): string[] {
  const newest = new Map<string, number>()
  const stragglers = new Map<string, number>()
  for (const { sender, connection } of log) {
    const current = newest.get(sender) ?? connection
    newest.set(sender, Math.max(current, connection))
    if (connection >= current) continue
    const through = `${sender} through connection ${connection}`
    stragglers.set(through, (stragglers.get(through) ?? 0) + 1)
  }
  return [...stragglers].filter(([, count]) => count > 1).map(([through]) => through)
}
