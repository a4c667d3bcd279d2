import { randomUUID } from 'node:crypto'
import { insertAccount } from '@wagate/db/queries/accounts/accounts'
import { type EventPosition, firstPosition, formatEventId } from '@wagate/shared/event-ids'
import { makeMessageId } from '@wagate/shared/ids'
import { makeNewKey } from '../src/credentials/api-key.ts'
import { hashPassword } from '../src/credentials/passwords.ts'
import { sendMessage } from '../src/operations/send-message.ts'
import { type Gateway, linkDevice, randomPhone } from './gateway.ts'
import type { InProcessClient } from './in-process.ts'

/** An account with its own value for every parameter that identifies a resource. */
export type Tenant = { key: string; values: Record<string, string> }

/** With a linked sender, a scheduled message, a received one, a spare key and a used idempotency key. */
export async function createTenant(
  gateway: Gateway,
  ask: InProcessClient,
  { sender = randomPhone(), number = randomPhone() } = {},
): Promise<Tenant> {
  const { id, key } = await createKeyHolder(gateway, { role: 'USER', expiresAt: null })
  const post = async (path: string, body: Record<string, unknown>) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const { text } = await ask({ method: 'POST', path, query: [], headers, body: JSON.stringify(body) })
    return JSON.parse(text) as Record<string, unknown>
  }
  const { device_id } = await post('/create-device', { sender })
  await linkDevice(gateway, Number(device_id))
  const idempotency_key = randomUUID()
  const send_at = new Date(Date.now() + 86_400_000).toISOString()
  const message = { ...sendMessage.example.given, sender, number }
  // A request like the example replays this one.
  await post('/send-message', { ...message, idempotency_key })
  const { message_id } = await post('/send-message', { ...message, send_at })
  const received_message_id = makeMessageId(sender)
  await gateway.db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation)
    VALUES (${received_message_id}, ${id}, ${Number(device_id)}, 'in', 'text', ${sender}, ${number}, 'received',
      ${received_message_id}, 1)`
  const spare = makeNewKey('spare').key
  const [spareKey] = await gateway.db.$client`
    INSERT INTO api_keys (account_id, name, hash, last_four)
    VALUES (${id}, ${spare.name}, ${spare.hash}, ${spare.lastFour}) RETURNING id`
  const [webhook] = await gateway.db.$client<{ id: number }[]>`
    INSERT INTO webhooks (account_id, url, name, epoch, tx, event_id, seconds)
    VALUES (${id}, 'https://example.com/', 'spare', 0, '0', 0, 0) RETURNING id`
  const media_id = randomUUID()
  await gateway.db.$client`
    INSERT INTO uploaded_media (media_id, account_id, expires_at, stored_at, mime, size, sha256)
    VALUES (${media_id}, ${id}, now() + interval '1 day', now(), 'application/pdf', 1, '')`
  const [event] = await gateway.db.$client<EventPosition[]>`
    SELECT epoch, tx::text, id::text, floor(extract(epoch FROM created_at))::float8 AS seconds
    FROM events WHERE account_id = ${id} LIMIT 1`
  return {
    key,
    values: {
      key,
      email: `${randomUUID()}@example.com`,
      password: `password ${randomUUID()}`,
      sender,
      number,
      device_id: String(device_id),
      id: String(device_id),
      message_id: String(message_id),
      received_message_id,
      before: String(message_id),
      idempotency_key,
      user_id: String(id),
      key_id: String(spareKey?.id),
      webhook_id: String(webhook?.id),
      media_id,
      event_id: formatEventId(event ?? firstPosition),
    },
  }
}

/** Of no password that a request has. */
const passwordHash = hashPassword(randomUUID())

export async function createKeyHolder(
  { db }: Gateway,
  { role, expiresAt }: { role: 'USER' | 'ADMIN'; expiresAt: Date | null },
): Promise<{ id: number; key: string }> {
  const { apiKey, key } = makeNewKey()
  const email = `${randomUUID()}@example.com`
  const account = await insertAccount(db, {
    email,
    passwordHash: await passwordHash,
    role,
    devicesAllowed: 5,
    expiresAt,
    key,
  })
  if (!account) throw new Error('There is an account with this email already')
  return { id: account.id, key: apiKey }
}
