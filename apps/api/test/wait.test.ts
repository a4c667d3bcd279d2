import { askRedis } from '@wagate/local-servers/ask-redis'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'

describe('wait', () => {
  test('delays the response until the message is sent', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const answering = account.post('/send-message', { sender, number, message: 'x', wait: 20 })
    const messageId = await setOutcome(deviceId, { status: 'delivered' })
    // As a worker of the previous version does: Postgres has the latest status.
    await gateway.events.publish(deviceId, { kind: 'message', messageId, status: 'sent' })
    expect(await answering).toMatchObject({
      status: 200,
      body: { message_id: messageId, status: 'delivered' },
    })
  })

  test('ends with an event that says what is stored', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const answering = account.post('/send-message', { sender, number, message: 'x', wait: 20 })
    await someoneListens(deviceId)
    const messageId = await findQueued(deviceId)
    // The row stays as it is: an answer that was read from it would wait for the end.
    await gateway.events.publish(deviceId, { kind: 'message', messageId, status: 'sent', isStored: true })
    expect(await answering).toMatchObject({ status: 200, body: { message_id: messageId, status: 'sent' } })
  })

  test('returns a failure with 200, its status and its reason, even without an event', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const answering = account.post('/send-message', { sender, number, message: 'x', wait: 20 })
    await setOutcome(deviceId, { status: 'failed', code: 'recipient_not_on_whatsapp', error: 'Not there.' })
    expect(await answering).toMatchObject({
      status: 200,
      body: { ok: true, status: 'failed', error: 'Not there.', error_code: 'recipient_not_on_whatsapp' },
    })
  })

  test('returns the latest status when the time is up', async () => {
    const { account, sender } = await createSender(gateway)
    const answer = await account.post('/send-message', { sender, number, message: 'x', wait: 1 })
    expect(answer).toMatchObject({ status: 200, body: { status: 'queued' } })
  })

  test('applies to a replay, which returns the outcome of the first request', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const given = { sender, number, message: 'x', idempotency_key: 'k' }
    const first = await account.post('/send-message', given)
    expect(first.body.status).toBe('queued')
    const repeating = account.post('/send-message', { ...given, wait: 20 })
    await someoneListens(deviceId)
    const messageId = await setOutcome(deviceId, { status: 'sent' })
    await gateway.events.publish(deviceId, { kind: 'message', messageId, status: 'sent' })
    const repeated = await repeating
    expect(repeated.body).toEqual({ ...first.body, status: 'sent' })
    expect(repeated.headers.get('idempotent-replayed')).toBe('true')
  })

  test('is ignored with send_at', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const send_at = new Date(Date.now() + 86_400_000).toISOString()
    const answering = account.post('/send-message', { sender, number, message: 'x', send_at, wait: 20 })
    const messageId = await setOutcome(deviceId, { status: 'sent' })
    await gateway.events.publish(deviceId, { kind: 'message', messageId, status: 'sent' })
    expect((await answering).body).toMatchObject({ message_id: messageId, status: 'scheduled' })
  })

  /** The reply to PUBLISH is the number of subscribers that received it. */
  async function someoneListens(deviceId: number) {
    const publish = ['PUBLISH', `wa:device:${deviceId}`, '{}']
    await vi.waitFor(
      async () => expect(await askRedis(new URL(gateway.redisUrl), [publish])).toEqual([':1']),
      eventually,
    )
  }

  async function findQueued(deviceId: number): Promise<string> {
    const [row] = await gateway.db.$client<{ id: string }[]>`
      SELECT id FROM messages WHERE device_id = ${deviceId} AND status = 'queued'`
    return row?.id ?? expect.fail('There is no message yet')
  }

  async function setOutcome(deviceId: number, given: { status: string; code?: string; error?: string }) {
    return vi.waitFor(async () => {
      const [row] = await gateway.db.$client<{ id: string }[]>`
        UPDATE messages SET status = ${given.status}, error_code = ${given.code ?? null}, error = ${given.error ?? null}
        WHERE device_id = ${deviceId} RETURNING id`
      if (!row) throw new Error('There is no message yet')
      return row.id
    }, eventually)
  }
})
