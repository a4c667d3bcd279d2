import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertAccount } from '../src/queries/accounts/accounts.ts'
import { deleteOptOut, insertOptOut } from '../src/queries/contacts/opt-outs.ts'
import { claimFirstMessages, claimMessages } from '../src/queries/messages/message-claims.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
let device: OwnedDevice

beforeAll(async () => {
  owned = await openOwnedDevices()
  device = await owned.addLinkedDevice()
})
afterAll(() => owned.drop())

async function claimOf(number: string, recipientJid: string | null = `${number}@s.whatsapp.net`) {
  const [message] = await owned.db.$client<{ id: string; createdAt: string }[]>`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id, link_generation)
    VALUES (${makeMessageId('1')}, ${owned.accountId}, ${device.deviceId}, 'out', 'text', '1', ${number}, 'x', 'queued',
      gen_random_uuid()::text, 1)
    RETURNING id, created_at::text AS "createdAt"`
  if (!message) throw new Error('The message was not inserted')
  return { ...message, fence: device.fence, recipientJid, setback: null }
}

async function isRefused(number: string, recipientJid?: string | null): Promise<boolean | undefined> {
  const [claimed] = await claimMessages(owned.db, [await claimOf(number, recipientJid)])
  return claimed?.isOptedOut
}

test.each([
  ['the number', '4915187654321', '4915187654321', undefined],
  ['a number whose media are prepared', '4915187654322', '4915187654322', null],
  ['the other form of a number', '5511987654321', '551187654321', undefined],
  ['a number that WhatsApp resolves to it', '4915187654323', '4915187654399', '4915187654323@s.whatsapp.net'],
])('a message to %s that has opted out is refused until it opts in', async (_, optedOut, number, jid) => {
  await insertOptOut(owned.db, owned.accountId, optedOut)
  expect(await isRefused(number, jid)).toBe(true)
  await deleteOptOut(owned.db, owned.accountId, optedOut)
  expect(await isRefused(number, jid)).toBe(false)
})

test.each([
  ['a landline', '551132654321', 'the mobile number of another person', '5511932654321'],
  ['a mobile number', '5511932654321', 'the landline of another person', '551132654321'],
])('an opt-out of %s of Brazil (%s) does not count for %s (%s)', async (_, optedOut, __, number) => {
  await insertOptOut(owned.db, owned.accountId, optedOut)
  expect(await isRefused(optedOut)).toBe(true)
  expect(await isRefused(number)).toBe(false)
  await deleteOptOut(owned.db, owned.accountId, optedOut)
})

test('an opt-out of another account does not count', async () => {
  const other = await insertAccount(owned.db, {
    email: 'b@example.com',
    passwordHash: '',
    role: 'USER',
    devicesAllowed: 1,
    expiresAt: null,
    key: { name: 'k', hash: Buffer.from('other'), lastFour: 'last' },
  })
  await insertOptOut(owned.db, other?.id ?? 0, '4915187654377')
  expect(await isRefused('4915187654377')).toBe(false)
})

test('a message that is refused counts no new contact', async () => {
  await insertOptOut(owned.db, owned.accountId, '4915187654366')
  const [claimed] = await claimFirstMessages(owned.db, [await claimOf('4915187654366')])
  expect(claimed).toMatchObject({ isOptedOut: true, countedToday: null })
})
