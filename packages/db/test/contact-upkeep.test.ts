import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { learnContacts } from '../src/queries/contacts/learn-contacts.ts'
import { insertOptOut } from '../src/queries/contacts/opt-outs.ts'
import { acceptMessages } from '../src/queries/messages/accept-messages.ts'
import { insertReceivedMessages } from '../src/queries/messages/received-messages.ts'
import { deleteOldContacts, keyHiddenMessages } from '../src/queries/retention/contact-upkeep.ts'
import { beginning } from '../src/queries/retention/housekeeping.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
let device: OwnedDevice
const sender = '4915100000000'
const number = '4915187654321'
const lidJid = '100000000000017@lid'
const otherLid = '100000000000018@lid'

beforeAll(async () => {
  owned = await openOwnedDevices()
  device = await owned.addLinkedDevice(sender)
})
afterAll(() => owned.drop())
beforeEach(() => owned.db.$client`TRUNCATE contacts, opt_outs`)

const learn = () => learnContacts(owned.db, [{ ...device, lidJid, number }])

async function receive(): Promise<string> {
  const id = makeMessageId(sender)
  const message = { ...device, id, accountId: owned.accountId, sender, number: null, contactJid: lidJid }
  await insertReceivedMessages(owned.db, [
    { ...message, type: 'text', body: 'x', waId: id, linkGeneration: 1 },
  ])
  return id
}

async function accept(): Promise<void> {
  const id = makeMessageId(sender)
  const rest = {
    url: null,
    filename: null,
    sendAt: null,
    media: null,
    idempotency: null,
    number: null,
    lidJid,
  }
  const message = { id, waId: whatsAppIdOf(id), accountId: owned.accountId, sender, body: 'x', ...rest }
  await acceptMessages(owned.db, [{ ...message, type: 'text' }], { mediaBytesMax: 0 })
}

const knownLids = async () =>
  (await owned.db.$client<{ lid: string }[]>`SELECT lid_jid AS lid FROM contacts ORDER BY lid`).map(
    ({ lid }) => lid,
  )
const age = (days: number) => owned.db.$client`UPDATE contacts SET seen_on = CURRENT_DATE - ${days}::int`

test('contacts that were not seen for as long as messages are kept are deleted, but no opt-out', async () => {
  await learn()
  await insertOptOut(owned.db, owned.accountId, otherLid)
  await age(97)
  await deleteOldContacts(owned.db, 90, beginning)
  expect(await knownLids()).toEqual([lidJid, otherLid])
  await age(98)
  expect(await deleteOldContacts(owned.db, 90, beginning)).toMatchObject({ deleted: 1 })
  expect(await knownLids()).toEqual([otherLid])
})

test('a contact that is written to at its LID is kept', async () => {
  await accept()
  await age(98)
  await accept()
  await deleteOldContacts(owned.db, 90, beginning)
  expect(await knownLids()).toEqual([lidJid])
})

test('what a former version has received from LIDs is stored under their contacts', async () => {
  const [hidden, known] = [await receive(), await receive()]
  const keyOf = async (id: string) =>
    (await owned.db.$client<{ number: string }[]>`SELECT number FROM messages WHERE id = ${id}`)[0]?.number
  await owned.db.$client`UPDATE messages SET number = '' WHERE id IN (${hidden}, ${known})`
  await owned.db.$client`TRUNCATE contacts`
  expect(await keyHiddenMessages(owned.db, beginning)).toEqual({ deleted: 2, next: beginning })
  expect(await keyOf(hidden)).toBe(lidJid)
  await learn()
  expect(await keyOf(known)).toBe(number)
  await owned.db.$client`UPDATE messages SET number = '' WHERE id = ${known}`
  await keyHiddenMessages(owned.db, beginning)
  expect(await keyOf(known)).toBe(number)
  const account = String(owned.accountId)
  expect(await keyHiddenMessages(owned.db, beginning)).toEqual({ deleted: 0, next: account })
  expect(await keyHiddenMessages(owned.db, account)).toEqual({ deleted: 0, next: undefined })
})

test('a step keys no more messages of all accounts together than of one', async () => {
  const id = await receive()
  const sql = owned.db.$client
  await sql`INSERT INTO accounts (email, password_hash, role, devices_allowed) VALUES ('b@example.com', '', 'USER', 1)`
  const columns = await sql<{ name: string }[]>`
    SELECT column_name AS name FROM information_schema.columns
    WHERE table_name = 'messages' AND is_generated = 'NEVER' AND column_name NOT IN ('id', 'account_id', 'number', 'seq')`
  const copied = columns.map(({ name }) => `message.${name}`).join()
  await sql.unsafe(`
    INSERT INTO messages (id, account_id, number, ${columns.map(({ name }) => name).join()})
    SELECT gen_random_uuid(), accounts.id, '', ${copied}
    FROM messages AS message, accounts, generate_series(1, 700) WHERE message.id = '${id}'`)
  const steps: number[] = []
  let after: string | undefined = beginning
  while (after !== undefined) {
    const { deleted, next } = await keyHiddenMessages(owned.db, after)
    steps.push(deleted)
    after = next
  }
  expect(steps.filter((keyed) => keyed > 0)).toEqual([1000, 400])
})
