import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { shortLease } from '@wagate/test-kit/short-lease'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const [sender, recipient] = ['15553300001', '15553300002'] as const
const minute = { withinMs: 60_000, everyMs: 100 }

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({
    environment: { SEND_ACK_TIMEOUT_MS: '3000', ...shortLease },
  })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(() => system?.close(), 30_000)

type Step = { step: string; at: string; attempt?: number; reason?: string }

async function stepsOf(id: string): Promise<Step[]> {
  return (await gateway.call('message-status', { message_id: id })).body.timeline as Step[]
}

it('a message tells each attempt and why it failed, also those of a worker that was killed', async () => {
  await system.phones.fault({ kind: 'ack_drop' })
  await system.phones.fault({ kind: 'no_receipts' })
  const id = await gateway.send(sender, recipient, 'unanswered')
  const before = await until('it was not answered once', minute, async () => {
    const steps = await stepsOf(id)
    return steps.some(({ step }) => step === 'setback') && steps.at(-1)?.step === 'sending' && steps
  })
  expect(before.slice(0, 3)).toMatchObject([
    { step: 'queued' },
    { step: 'sending', attempt: 1 },
    { step: 'setback', attempt: 1, reason: 'unanswered' },
  ])
  const owner = await system.ownerOf(sender)
  system.devnet.signal(owner, 'SIGKILL')
  const attempts = before.filter(({ step }) => step === 'sending').length
  await until('another worker sends it', minute, async () =>
    (await stepsOf(id)).some(({ step, attempt }) => step === 'sending' && Number(attempt) > attempts),
  )
  await system.phones.clearFaults()
  await gateway.untilStatus(id, 'delivered')
  const steps = await stepsOf(id)
  expect(steps.slice(0, before.length)).toEqual(before)
  const numbers = steps.filter(({ step }) => step === 'sending').map(({ attempt }) => attempt)
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  expect(steps.slice(-2)).toMatchObject([{ step: 'sent' }, { step: 'delivered' }])
}, 180_000)
