import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  createSender,
  type Gateway,
  linkDevice,
  startGatewayWithOwner,
  startReplica,
  storedOf,
} from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'

describe('idempotency', () => {
  test('50 concurrent equal requests send one message', async () => {
    const { account, sender } = await createSender(gateway)
    const key = randomUUID()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        n % 2 === 0
          ? account.post('/send-message', { sender, number, message: 'once', idempotency_key: key })
          : account.get('/send-message', { sender, number, message: 'once' }, { 'idempotency-key': key }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => body.message_id)).size).toBe(1)
    const replays = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')
    expect(replays).toHaveLength(49)
    expect(await storedOf(account)).toHaveLength(1)
  })

  test('works across two processes', async () => {
    const { account, sender } = await createSender(gateway)
    const other = await startReplica(gateway)
    try {
      const key = randomUUID()
      const given = { sender, number, message: 'once', idempotency_key: key }
      const headers = { 'content-type': 'application/json', 'x-api-key': account.apiKey }
      const answers = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          if (n % 2 === 0) return (await account.post('/send-message', given)).body
          const init = { method: 'POST', headers, body: JSON.stringify(given) }
          return (await (await fetch(`${other.url}/send-message`, init)).json()) as Record<string, unknown>
        }),
      )
      expect(new Set(answers.map(({ message_id }) => message_id)).size).toBe(1)
      expect(await storedOf(account)).toHaveLength(1)
    } finally {
      await other.close()
    }
  })

  test('a replay returns the response of the first request, with the latest status', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'k' }
    const first = await account.post('/send-message', given)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    const again = await account.post('/send-message', { ...given, sender: `+${sender}` })
    expect(again.body).toEqual(first.body)
    await gateway.db.$client`
      UPDATE messages SET status = 'sent', sent_at = now() WHERE id = ${String(first.body.message_id)}`
    expect((await account.post('/send-message', given)).body).toEqual({ ...first.body, status: 'sent' })
  })

  test('a replay succeeds even if the sender has been logged out since', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'k' }
    const first = await account.post('/send-message', given)
    await account.post('/logout-device', { sender })
    expect((await account.post('/send-message', given)).body).toEqual(first.body)
    expect(await account.post('/send-message', { ...given, idempotency_key: 'new' })).toMatchObject({
      status: 409,
    })
  })

  test.each([{ message: 'other' }, { number: '4915188888888' }])(
    'a different payload returns 422: %j',
    async (other) => {
      const { account, sender } = await createSender(gateway)
      const given = { sender, number, message: 'x', idempotency_key: 'k' }
      await account.post('/send-message', given)
      expect(await account.post('/send-message', { ...given, ...other })).toMatchObject({
        status: 422,
        body: { code: 'idempotency_key_reused' },
      })
      const twins = await Promise.all([
        account.post('/send-message', { ...given, idempotency_key: 'l' }),
        account.post('/send-message', { ...given, idempotency_key: 'l', ...other }),
      ])
      expect(twins.map(({ status }) => status).sort()).toEqual([200, 422])
      expect(await storedOf(account)).toHaveLength(2)
    },
  )

  test('a key applies to one account and operation, for 24 hours', async () => {
    const [one, other] = [await createSender(gateway), await createSender(gateway)]
    const given = { number, idempotency_key: 'k' }
    const text = { ...given, message: 'x' }
    const media = { ...given, type: 'image', url: 'https://example.com/x.png' }
    const ids = [
      await one.account.post('/send-message', { ...text, sender: one.sender }),
      await other.account.post('/send-message', { ...text, sender: other.sender }),
      await one.account.post('/send-media', { ...media, sender: one.sender }),
    ].map(({ body }) => body.message_id)
    expect(new Set(ids).size).toBe(3)

    await gateway.db.$client`UPDATE idempotency_keys SET created_at = created_at - interval '25 hours'`
    const later = await one.account.post('/send-message', { ...text, sender: one.sender, message: 'y' })
    expect(later.status).toBe(200)
    expect(later.headers.get('idempotent-replayed')).toBeNull()
    expect(ids).not.toContain(later.body.message_id)
  })

  test('a replay is recognized after its scheduled time has passed', async () => {
    const { account, sender } = await createSender(gateway)
    const sendAt = new Date(Date.now() + 1500)
    const given = { sender, number, message: 'x', send_at: sendAt.toISOString(), idempotency_key: 'k' }
    const first = await account.post('/send-message', given)
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(sendAt.getTime()), 5000)
    const again = await account.post('/send-message', given)
    expect(again).toMatchObject({ status: 200, body: { message_id: first.body.message_id } })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await account.post('/send-message', { ...given, idempotency_key: 'l' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter' },
    })
    expect(await storedOf(account)).toHaveLength(1)
  })

  test('a refused request leaves no key behind', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'k' }
    await account.post('/logout-device', { sender })
    expect((await account.post('/send-message', given)).status).toBe(409)
    await linkDevice(gateway, deviceId)
    const answer = await account.post('/send-message', given)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('idempotent-replayed')).toBeNull()
  })

  const sendAt = new Date(Date.now() + 86_400_000).toISOString()
  const url = 'https://example.com/a b.png'
  test.each([
    {
      name: 'a scheduled text',
      path: '/send-message',
      given: { message: 'x', wait: 0, send_at: sendAt },
      hashed: [sendAt, { message: 'x' }],
    },
    {
      name: 'a document with a caption',
      path: '/send-media',
      given: { filename: 'a.png', caption: 'c', url, type: 'image' },
      hashed: [null, { type: 'image', url, caption: 'c', filename: 'a.png' }],
    },
    {
      name: 'a file without options',
      path: '/send-media',
      given: { type: 'image', url },
      hashed: [null, { type: 'image', url }],
    },
  ])('stores the same hash of $name as earlier versions', async ({ path, given, hashed }) => {
    const { account, sender } = await createSender(gateway)
    const { body } = await account.post(path, { ...given, sender, number, idempotency_key: 'k' })
    const [stored] = await gateway.db.$client<{ hash: string }[]>`
      SELECT encode(payload_hash, 'base64') AS hash FROM idempotency_keys WHERE message_id = ${String(body.message_id)}`
    const json = JSON.stringify([sender, number, ...hashed])
    expect(stored?.hash).toBe(createHash('sha256').update(json).digest('base64'))
  })

  test('header and parameter may be equal but not different', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'k' }
    expect((await account.post('/send-message', given, { 'idempotency-key': 'k' })).status).toBe(200)
    expect(await account.post('/send-message', given, { 'idempotency-key': 'other' })).toMatchObject({
      status: 400,
      body: { code: 'duplicate_parameter' },
    })
    const long = { 'idempotency-key': 'x'.repeat(256) }
    expect(await account.post('/send-message', { sender, number, message: 'x' }, long)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter' },
    })
  })
})
