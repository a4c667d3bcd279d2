import type { Sent } from '@wagate/test-kit/load/load'
import type { LogLine, Received } from '@wagate/test-kit/load/phones'
import type { InboundFacts, MessageFacts } from '@wagate/test-kit/load/records'
import type { People } from './people.ts'

/** What a server had stored that was replaced by one that was behind. */
export type Stored = { messages: MessageFacts[]; inbound: InboundFacts[] }

/** What remains of each list without what the database has forgotten. Everything else has to agree as after any fault. */
export type Remembered = {
  sent(sent: Sent[]): Sent[]
  log(log: LogLine[]): LogLine[]
  shown(messages: Received[]): Received[]
  opened(opened: ReadonlySet<string>): Set<string>
  written(written: People['written'], inbound: InboundFacts[]): People['written']
}

/** `former`: of the server that was replaced. Without one, nothing may be forgotten. */
export function rememberedBy(
  records: MessageFacts[],
  former: Stored = { messages: [], inbound: [] },
): Remembered {
  const statuses = new Map(records.map(({ waId, status }) => [waId, status]))
  const formerStatuses = new Map(former.messages.map(({ waId, status }) => [waId, status]))
  const formerIds = new Map(former.messages.map(({ id, waId }) => [id, waId]))
  const isKnown = (waId: string) => statuses.has(waId) || !formerStatuses.has(waId)
  const hasForgottenReceipt = (waId: string, receipts: string[]) =>
    receipts.includes(formerStatuses.get(waId) ?? '') && !receipts.includes(statuses.get(waId) ?? '')

  return {
    sent: (sent) =>
      sent.filter(({ messageId }) => {
        const waId = formerIds.get(messageId ?? '')
        return waId === undefined || isKnown(waId)
      }),
    log: (lines) =>
      lines
        .filter(({ wa_message_id: waId }) => isKnown(waId))
        .map((line) =>
          hasForgottenReceipt(line.wa_message_id, ['delivered', 'read']) ? { ...line, receipt: false } : line,
        ),
    shown: (messages) => messages.filter(({ wa_message_id: waId }) => isKnown(waId)),
    opened: (opened) => new Set([...opened].filter((waId) => !hasForgottenReceipt(waId, ['read']))),
    written(written, inbound) {
      const [now, before] = [inbound, former.inbound].map((list) => new Set(list.map(({ waId }) => waId)))
      return written.filter(({ waId }) => now?.has(waId) || !before?.has(waId))
    },
  }
}
