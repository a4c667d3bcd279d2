import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

type Block = { minutes: number | null; rev: 'of the device' | 'earlier' | null; version: string | null }

test.each<[name: string, block: Block, expected: 'answers at once' | 'waits for the login']>([
  ['a ban', { minutes: 5, rev: null, version: null }, 'answers at once'],
  ['a ban that is over', { minutes: -5, rev: null, version: null }, 'waits for the login'],
  ['a lock', { minutes: null, rev: 'of the device', version: null }, 'answers at once'],
  [
    'a lock that an act of the user has ended',
    { minutes: null, rev: 'earlier', version: null },
    'waits for the login',
  ],
  ['an outdated client', { minutes: 5, rev: 'of the device', version: '1.0.0' }, 'answers at once'],
  [
    'an outdated client that may try again',
    { minutes: -5, rev: 'of the device', version: '1.0.0' },
    'waits for the login',
  ],
])('restart-session for a sender with %s', async (_, { minutes, rev, version }, expected) => {
  const { account, sender, deviceId } = await createSender(gateway)
  await gateway.db.$client`
    UPDATE devices SET login_blocked_version = ${version},
      login_after = now() + ${minutes}::int * interval '1 minute',
      login_blocked_rev = desired_rev - ${rev === 'earlier' ? 1 : 0} + ${rev === null ? null : 0}::int
    WHERE id = ${deviceId}`
  let isAnswered = false
  const answer = account.post('/restart-session', { sender }).finally(() => {
    isAnswered = true
  })
  if (expected === 'waits for the login') {
    await expect
      .poll(
        () => gateway.db.$client`
        UPDATE devices SET connected_session_rev = session_rev
        WHERE id = ${deviceId} AND session_rev > connected_session_rev RETURNING id`,
      )
      .toHaveLength(1)
    expect(isAnswered).toBe(false)
  }
  expect((await answer).body).toMatchObject({ restarted: expected === 'waits for the login' })
})
