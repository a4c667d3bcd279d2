import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  createSender,
  type Gateway,
  randomPhone,
  recordCommands,
  startGatewayWithOwner,
  storedOf,
} from './gateway.ts'
import { titled } from './titled.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'

describe('send-message', () => {
  test('stores the message, notifies the owner and returns queued', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const commands = await recordCommands(gateway, deviceId)
    const { status, body } = await account.post('/send-message', {
      sender: `+${sender}`,
      number: '+49 (151) 99 99 99 99',
      message: 'Hello 😀',
    })
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ok: true,
        message_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
        status: 'queued',
        sender,
        number,
        device_id: deviceId,
      },
    })
    await vi.waitFor(() => expect(commands.seen).toEqual(['send']), eventually)
    await commands.close()
    const [row] = await gateway.db.$client`
      SELECT account_id, device_id, direction, type, body, status, wa_id, link_generation, send_at FROM messages
      WHERE id = ${String(body.message_id)}`
    expect(row).toEqual({
      account_id: account.userId,
      device_id: deviceId,
      direction: 'out',
      type: 'text',
      body: 'Hello 😀',
      status: 'queued',
      wa_id: expect.stringMatching(/^3EB0[0-9A-F]{18}$/),
      link_generation: 1,
      send_at: null,
    })
  })

  test('works the same by GET and with a form', async () => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'a+b & ü' }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await account.get('/send-message', given)).toMatchObject({
      status: 200,
      body: { status: 'queued' },
    })
    expect(
      await account.post('/api/send-message/', new URLSearchParams(given).toString(), form),
    ).toMatchObject({
      status: 200,
    })
    expect((await storedOf(account)).map(({ message }) => message)).toEqual(['a+b & ü', 'a+b & ü'])
  })

  test('is accepted while the sender is disconnected and refused when it is not linked', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const send = () => account.post('/send-message', { sender, number, message: 'x' })
    const notConnected = { status: 409, body: { code: 'sender_not_connected' } }
    await gateway.db.$client`
      UPDATE devices SET connection = 'offline', offline_since = now() - interval '1 day' WHERE id = ${deviceId}`
    expect(await send()).toMatchObject({ status: 200 })
    await account.post('/logout-device', { sender })
    // Its credentials still exist, because the owner has not reconciled yet.
    expect(await send()).toMatchObject(notConnected)
    const fresh = randomPhone()
    await account.post('/create-device', { sender: fresh })
    expect(await account.post('/send-message', { sender: fresh, number, message: 'x' })).toMatchObject(
      notConnected,
    )
    expect(await storedOf(account)).toHaveLength(1)
  })

  test('is refused with the reason and stores nothing when WhatsApp blocks the sender', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'once' }
    const [first] = [await account.post('/send-message', given)]
    for (const reason of ['blocked_by_whatsapp', 'banned_by_whatsapp', 'multi_device_mismatch']) {
      await gateway.db.$client`
        UPDATE devices SET connection = 'offline', offline_since = 'epoch', status_reason = ${reason}
        WHERE id = ${deviceId}`
      const media = { sender, number, type: 'image', url: 'https://example.com/x.png' }
      for (const [path, body] of [
        ['/send-message', { ...given, idempotency_key: reason }],
        ['/send-media', media],
      ] as const) {
        expect(await account.post(path, body)).toMatchObject({
          status: 409,
          body: { code: 'sender_blocked', error: expect.stringContaining(`(${reason})`) },
        })
      }
      // A replay of an accepted message still succeeds.
      const repeated = await account.post('/send-message', given)
      expect(repeated).toMatchObject({ status: 200, body: { message_id: first?.body.message_id } })
    }
    expect(await storedOf(account)).toHaveLength(1)
    await gateway.db.$client`
      UPDATE devices SET connection = 'online', offline_since = NULL, status_reason = NULL WHERE id = ${deviceId}`
    const again = await account.post('/send-message', { ...given, idempotency_key: 'banned_by_whatsapp' })
    expect(again).toMatchObject({ status: 200, body: { status: 'queued' } })
  })

  test('is accepted while the sender may reconnect, with a warning after the grace period', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const send = async (reason: string, away: string) => {
      await gateway.db.$client`
        UPDATE devices SET connection = 'offline', offline_since = now() - ${away}::interval, status_reason = ${reason}
        WHERE id = ${deviceId}`
      return account.post('/send-message', { sender, number, message: 'x' })
    }
    for (const reason of ['connection_replaced', 'client_outdated', 'connection_lost']) {
      expect((await send(reason, '5 s')).body.warnings).toBeUndefined()
      expect(await send(reason, '2 minutes')).toMatchObject({
        status: 200,
        body: { status: 'queued', warnings: [expect.stringContaining(`(${reason})`)] },
      })
    }
  })

  test('returns 404 for an unknown sender', async () => {
    const account = await gateway.createAccount()
    expect(
      await account.post('/send-message', { sender: randomPhone(), number, message: 'x' }),
    ).toMatchObject({
      status: 404,
      body: { code: 'sender_not_found' },
    })
  })

  test.each(
    [
      { message: 'x'.repeat(4097) },
      { message: 5 },
      { message: 'a\0b' },
      { number: '12' },
      { number: '4915199999999@g.us' },
      { wait: 26 },
      { wait: 'long' },
      { send_at: 'tomorrow' },
      { send_at: '2020-01-01T00:00:00Z' },
      { send_at: new Date(Date.now() + 31 * 86_400_000).toISOString() },
      { idempotency_key: 'x'.repeat(256) },
    ].map(titled),
  )('refuses %s', async (_, wrong) => {
    const { account, sender } = await createSender(gateway)
    const given = { sender, number, message: 'x', ...wrong }
    expect(await account.post('/send-message', given)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter: Object.keys(wrong)[0] }] },
    })
    expect(await storedOf(account)).toEqual([])
  })

  test('accepts 4,096 emoji', async () => {
    const { account, sender } = await createSender(gateway)
    expect((await account.post('/send-message', { sender, number, message: '😀'.repeat(4096) })).status).toBe(
      200,
    )
  })

  test('is scheduled with send_at', async () => {
    const { account, sender } = await createSender(gateway)
    const send_at = new Date(Date.now() + 86_400_000).toISOString()
    const { body } = await account.post('/send-message', { sender, number, message: 'later', send_at })
    expect(body).toMatchObject({ ok: true, status: 'scheduled' })
    expect(await storedOf(account)).toMatchObject([{ status: 'scheduled', message: 'later' }])
  })

  test.each([
    ['an hour fast', 3_600_000],
    ['two hours slow', -7_200_000],
  ])(
    'is scheduled for a time that is possible by the clock of Postgres, while that of the API is %s',
    async (_, wrongByMs) => {
      const { account, sender } = await createSender(gateway)
      const post = (send_at: string) =>
        account.post('/send-message', { sender, number, message: 'x', send_at })
      const soon = new Date(Date.now() + 60_000).toISOString()
      const latest = new Date(Date.now() + 30 * 86_400_000 - 60_000).toISOString()
      const never = new Date(Date.now() + 31 * 86_400_000).toISOString()
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + wrongByMs })
      try {
        for (const send_at of [soon, latest])
          expect((await post(send_at)).body).toMatchObject({ status: 'scheduled' })
        expect((await post(never)).body).toMatchObject({ code: 'invalid_parameter' })
      } finally {
        vi.useRealTimers()
      }
    },
  )

  test('accepts all concurrent messages and keeps their order', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const messages = Array.from({ length: 300 }, (_, n) => `message ${n}`)
    const answers = await Promise.all(
      messages.map((message) => account.post('/send-message', { sender, number, message })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const rows = await gateway.db.$client<{ id: string }[]>`
      SELECT id FROM messages WHERE device_id = ${deviceId} ORDER BY seq`
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(answers.map(({ body }) => body.message_id)))

    for (const message of ['one', 'two', 'three'])
      await account.post('/send-message', { sender, number, message })
    const last = await gateway.db.$client<{ body: string }[]>`
      SELECT body FROM messages WHERE device_id = ${deviceId} ORDER BY seq DESC LIMIT 3`
    expect(last.map(({ body }) => body)).toEqual(['three', 'two', 'one'])
  })

  test('keeps concurrent messages of many accounts apart', async () => {
    const senders = await Promise.all(Array.from({ length: 5 }, () => createSender(gateway)))
    const stranger = await gateway.createAccount()
    const answers = await Promise.all(
      senders.flatMap(({ account, sender }) => [
        ...Array.from({ length: 20 }, (_, n) =>
          account.post('/send-message', { sender, number, message: `${n}` }),
        ),
        stranger.post('/send-message', { sender, number, message: 'stolen' }),
        account.post('/send-message', { sender: randomPhone(), number, message: 'nobody' }),
      ]),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(10)
    for (const { account, sender } of senders) {
      const stored = await storedOf(account)
      expect(stored).toHaveLength(20)
      expect(stored.every((message) => message.sender === sender && message.message !== 'stolen')).toBe(true)
    }
  })
})
