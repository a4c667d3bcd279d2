import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
type Sender = Awaited<ReturnType<typeof createSender>>
let tenant: Sender
let other: Sender
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
  tenant = await createSender(gateway)
  other = await createSender(gateway)
})
afterAll(() => gateway.close())

const send = ({ account, sender }: Sender, wait: number) =>
  account.post('/send-message', { sender, number: '4915199999999', message: 'x', wait })

async function commits(): Promise<number> {
  const [row] = await gateway.db.$client<{ commits: number }[]>`
    SELECT xact_commit::float8 AS commits FROM pg_stat_database WHERE datname = current_database()`
  return row?.commits ?? 0
}

test('200 requests of an account wait at a time; further ones are accepted with a warning, and other accounts still wait', async () => {
  const waiting = Array.from({ length: 200 }, () => send(tenant, 25))
  await vi.waitFor(
    async () => {
      const further = await send(tenant, 1)
      expect(further.body).toMatchObject({ ok: true, status: 'queued' })
      expect(further.body.warnings).toEqual([expect.stringMatching(/^wait was ignored/)])
    },
    { timeout: 15_000, interval: 200 },
  )

  // 200 waiting requests share one poll a second.
  const before = await commits()
  const startedAt = performance.now()
  const { body } = await send(other, 4)
  expect(body).not.toHaveProperty('warnings')
  expect(performance.now() - startedAt).toBeGreaterThan(3500)
  // Statistics are up to a second old.
  expect((await commits()) - before).toBeLessThan(300)

  const sent = await gateway.db.$client<{ id: string }[]>`
    UPDATE messages SET status = 'sent', sent_at = now() WHERE device_id = ${tenant.deviceId} RETURNING id`
  expect(sent.length).toBeGreaterThanOrEqual(200)
  const answers = await Promise.all(waiting)
  for (const { status, body } of answers) expect([status, body.status]).toEqual([200, 'sent'])
  expect((await send(tenant, 1)).body).not.toHaveProperty('warnings')
}, 60_000)
