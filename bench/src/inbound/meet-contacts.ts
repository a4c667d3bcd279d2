import { inLanes } from '@wagate/test-kit/load/in-lanes'
import { recipientOf } from '@wagate/test-kit/load/numbers'
import type { System } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import { contactsPerSender, makePhoneWriter } from './phone-writer.ts'

const lanes = 32
const limit = { withinMs: 180_000, everyMs: 200 }

/** Each sender and each of its contacts write once, so that later messages belong to sessions that both sides use. */
export async function meetContacts({ gateway, records, phones }: System, senders: string[]): Promise<void> {
  const startedAtMs = Date.now()
  const meetings = Array.from({ length: contactsPerSender }, (_, index) => index).flatMap((index) =>
    senders.map((sender) => ({ sender, number: recipientOf(sender, index) })),
  )
  await inLanes(meetings, lanes, async (meeting) => {
    const { status, body } = await gateway.call('send-message', { ...meeting, message: 'Hello' })
    if (status !== 200) throw new Error(`Refused with ${status}: ${JSON.stringify(body)}`)
  })
  await until('all senders have written', limit, async () => {
    return (await records.countSince(startedAtMs, 'sent')) === meetings.length
  })
  const writer = makePhoneWriter(phones, senders, 'greeting')
  while (writer.written.length < meetings.length) await writer.write(meetings.length - writer.written.length)
  await until('all contacts have written', limit, async () => {
    return (await records.listInboundSince(startedAtMs)).length >= meetings.length
  })
}
