import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimMessages } from '../src/queries/messages/message-claims.ts'
import { recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import {
  expireMessages,
  failUnlinkedMessages,
  firstWaiting,
} from '../src/queries/messages/unsendable-messages.ts'
import { listMessageEvents } from './message-events.ts'
import { openOwnedDevices } from './owned-devices.ts'

let devices: Awaited<ReturnType<typeof openOwnedDevices>>
beforeAll(async () => {
  devices = await openOwnedDevices()
})
afterAll(() => devices.drop())

test.each(['message_expired', 'sender_logged_out', 'rejected_by_whatsapp'] as const)(
  'what became of a message that failed while it was in flight, when WhatsApp acknowledges it (%s)',
  async (code) => {
    const { db, accountId } = devices
    const { deviceId, fence } = await devices.addLinkedDevice()
    const messageId = makeMessageId('1')
    const [row] = await db.$client<{ createdAt: string }[]>`
      INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id, link_generation)
      VALUES (${messageId}, ${accountId}, ${deviceId}, 'out', 'text', '1', '2', 'x', 'queued', ${randomUUID()}, 1)
      RETURNING created_at::text AS "createdAt"`
    const claimed = {
      fence,
      id: messageId,
      createdAt: row?.createdAt ?? '',
      recipientJid: 'them',
      setback: null,
    }
    await claimMessages(db, [claimed])
    const outcome = { fence, deviceId, messageId, at: new Date().toISOString() }
    if (code === 'message_expired') {
      await expireMessages(db, fence, deviceId, firstWaiting, { ttlMs: -1, sentence: 'Too late.' })
    } else if (code === 'sender_logged_out') {
      await db.$client`UPDATE devices SET link_generation = 2 WHERE id = ${deviceId}`
      await failUnlinkedMessages(db, fence, deviceId, firstWaiting, 'Logged out.')
    } else await recordOutcomes(db, [{ ...outcome, status: 'failed', error: { code, sentence: 'No.' } }])
    const find = async () => {
      const [found] = await db.$client`SELECT status, error_code FROM messages WHERE id = ${messageId}`
      return found
    }
    expect(await find()).toEqual({ status: 'failed', error_code: code })
    const isKnownBetter = code !== 'rejected_by_whatsapp'
    expect(await recordOutcomes(db, [{ ...outcome, status: 'sent' }])).toEqual([
      isKnownBetter ? 'recorded' : 'unchanged',
    ])
    expect(await find()).toEqual(
      isKnownBetter ? { status: 'sent', error_code: null } : { status: 'failed', error_code: code },
    )
    expect(await listMessageEvents(db, messageId)).toEqual([
      'message.failed',
      ...(isKnownBetter ? [expect.stringContaining('message.sent')] : []),
    ])
  },
)
