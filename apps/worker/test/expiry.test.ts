import { findMessage } from '@wagate/db/queries/messages/message-history'
import { makeLogger } from '@wagate/runtime/logger'
import { makeMessageId } from '@wagate/shared/ids'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeviceContext } from '../src/device/device-context.ts'
import { startExpiry } from '../src/upkeep/expiry.ts'
import { openOwnedDevice } from './owned-device.ts'

const [sender, recipient] = ['4915100000000', '4915187654321']
const ttlMs = 60_000

let device: Awaited<ReturnType<typeof openOwnedDevice>>
beforeAll(async () => {
  device = await openOwnedDevice()
})
afterAll(() => device.drop())

async function queue(agoMs: number): Promise<string> {
  const id = makeMessageId(sender)
  await device.db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation, created_at)
    VALUES (${id}, ${device.accountId}, ${device.id}, 'out', 'text', ${sender}, ${recipient}, 'queued', ${id}, 0,
      now() - ${agoMs} * interval '1 ms')`
  return id
}

/** Runs until then. */
async function runExpiry(isOver: (woken: number[]) => boolean) {
  const hints: number[] = []
  const woken: number[] = []
  const { db, id, owned } = device
  const hosted = new Map([
    [
      owned.shard,
      {
        lease: { ...owned, isValid: () => true },
        devices: new Map([
          [id, { wake: () => void woken.push(id) }],
          [id + 1, { wake: () => void woken.push(id + 1) }],
        ]),
      },
    ],
  ])
  const failures: unknown[] = []
  const context = {
    db,
    config: { outbox: { messageTtlMs: ttlMs, pollMs: 10 } },
    logger: makeLogger('test', 'silent'),
    metrics: {
      failures: { inc: (labels: unknown, count: number) => failures.push({ ...Object(labels), count }) },
    },
    publishEventHint: (accountId: number) => void hints.push(accountId),
  } as unknown as DeviceContext
  const expiry = startExpiry(context, hosted)
  try {
    await until('it is done', () => isOver(woken))
  } finally {
    await expiry.close()
  }
  return { woken, hints, failures }
}

const statusOf = async (id: string) => (await findMessage(device.db, device.accountId, id))?.status

test('a message that expires wakes the outbox of its device, for what was behind it', async () => {
  const [head, behind] = [await queue(2 * ttlMs), await queue(0)]
  const found = await runExpiry((woken) => woken.length > 0)
  expect(found).toEqual({
    woken: [device.id],
    hints: [device.accountId],
    failures: [{ code: 'message_expired', count: 1 }],
  })
  expect([await statusOf(head), await statusOf(behind)]).toEqual(['failed', 'queued'])
})
