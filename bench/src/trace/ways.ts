import { setTimeout as delay } from 'node:timers/promises'
import { recipientOf } from '@wagate/test-kit/load/numbers'
import type { Phones } from '@wagate/test-kit/load/phones'
import type { Gateway } from '@wagate/test-kit/load/pooled-client'
import type { Records } from '@wagate/test-kit/load/records'
import { until } from '@wagate/test-kit/until'

export type Traced = { gateway: Gateway; phones: Phones; records: Records; sender: string }

/** Takes the way once. Resolves, with the time of the caller's answer, when nothing is left to do for it. */
export type Way = { title: string; go(): Promise<{ startedMs: number; answeredMs: number }> }

/** What still runs after the last row was written, such as the hint that tells of it. */
const settleMs = 25
/** Until a request that waits for an event is asleep. */
const asleepMs = 50
const endsWithin = { withinMs: 20_000, everyMs: 5 }

export const ways: Record<string, (traced: Traced) => Way> = {
  'send-message': ({ gateway, records, sender }) => ({
    title: 'One text to a known recipient, with wait=10, until its phone has confirmed it',
    async go() {
      const since = Date.now()
      const startedMs = nowMs()
      const fields = { sender, number: recipientOf(sender, 0), message: `trace ${since}`, wait: 10 }
      await answerOf(gateway.call('send-message', fields))
      const answeredMs = nowMs()
      await until(
        'it is delivered',
        endsWithin,
        async () => (await records.countSince(since, 'delivered')) > 0,
      )
      await delay(settleMs)
      return { startedMs, answeredMs }
    },
  }),
  'receive-message': ({ gateway, phones, sender }) => {
    let after = 'latest'
    return {
      title: 'A text of a known contact, told to a request that waits at /events',
      async go() {
        if (after === 'latest') after = String((await answerOf(gateway.get('events', { after }))).next)
        const asked = answerOf(gateway.get('events', { after, types: 'message.received', wait: 20 }))
        await delay(asleepMs)
        const startedMs = nowMs()
        await phones.write(recipientOf(sender, 0), sender, `trace ${startedMs}`)
        after = String((await asked).next)
        const answeredMs = nowMs()
        await delay(settleMs)
        return { startedMs, answeredMs }
      },
    }
  },
}

async function answerOf(asked: ReturnType<Gateway['get']>): Promise<Record<string, unknown>> {
  const { status, body } = await asked
  if (status !== 200) throw new Error(`Answered ${status}: ${JSON.stringify(body)}`)
  return body
}

/** The clock of `process.hrtime`, which all processes of the machine share. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
