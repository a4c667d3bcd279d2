import { until } from '@wagate/test-kit/until'
import type { World } from './world.ts'

/** WhatsApp takes messages and does not answer. Resolves to the first one of `sender` (by default, any) that gets no answer. */
export async function stopAnswers(world: World, sender?: string): Promise<string> {
  const sinceMs = Date.now()
  // A receipt would tell as much as an ack.
  await world.fault({ kind: 'no_receipts' })
  await world.fault({ kind: 'ack_drop' })
  const first = await until('a message gets no answer', { withinMs: 30_000, everyMs: 50 }, async () =>
    (await world.phones.log()).find((line) => {
      const isMeant = Date.parse(line.t) >= sinceMs && (sender === undefined || line.sender === sender)
      return isMeant && line.ack === 'dropped' && !line.receipt
    }),
  )
  return first.wa_message_id
}
