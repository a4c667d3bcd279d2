import type { WaitingMessage, WaitingQuery } from '@wagate/db/queries/messages/waiting-messages'
import { normalPriority } from '@wagate/shared/priorities'

export function makeMessage(
  index: number,
  number: string,
  fields: Partial<WaitingMessage> = {},
): WaitingMessage {
  return {
    id: `id-${index}`,
    seq: index,
    priority: normalPriority,
    createdAt: '2026-01-01',
    waId: `wa-${index}`,
    number,
    recipientJid: null,
    type: 'text',
    body: 'x',
    url: null,
    filename: null,
    replyTo: null,
    typingSeconds: 0,
    uploadedContent: null,
    status: 'queued',
    interruptions: 0,
    failingMs: 0,
    reference: null,
    isToContact: false,
    ...fields,
  }
}

/** What `listWaitingMessages` answers; numbers that start with `new` belong to no contact. */
export function readFrom(
  rows: WaitingMessage[],
  { priority, except, exceptNumbers, without, limit, after = -1 }: WaitingQuery,
): WaitingMessage[] {
  const [ids, numbers, behind] = [new Set(except), new Set(exceptNumbers), new Set<string>()]
  const found: WaitingMessage[] = []
  for (const row of rows) {
    if (priority !== undefined && row.priority !== priority) continue
    const isUnprepared = row.type !== 'text' && row.uploadedContent === null
    if (without.includes('unprepared') && isUnprepared) behind.add(row.number)
    if (without.includes('attempted') && row.status === 'sending') behind.add(row.number)
    const isLeftOut =
      numbers.has(row.number) ||
      behind.has(row.number) ||
      (without.includes('newContacts') && row.number.startsWith('new'))
    if (!isLeftOut && row.seq > after && !ids.has(row.id) && found.length < limit) found.push({ ...row })
  }
  return found
}
