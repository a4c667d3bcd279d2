import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { toMessageObject } from '@wagate/shared/objects/message-object'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findContact } from '../src/queries/contacts/known-contacts.ts'
import { learnContacts } from '../src/queries/contacts/learn-contacts.ts'
import { deleteOptOut, insertOptOut, listOptOuts } from '../src/queries/contacts/opt-outs.ts'
import { acceptMessages } from '../src/queries/messages/accept-messages.ts'
import { listMessages } from '../src/queries/messages/history-pages.ts'
import { claimFirstMessages } from '../src/queries/messages/message-claims.ts'
import { recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import { insertReceivedMessages } from '../src/queries/messages/received-messages.ts'
import { findSentToday } from '../src/queries/messages/sent-today.ts'
import { listWaitingMessages } from '../src/queries/messages/waiting-messages.ts'
import { OwnershipLost } from '../src/queries/statements/fence.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
let device: OwnedDevice
const sender = '4915100000000'
let contacts = 0
/** Of the present test. */
let number: string
let lid: string
const lidJid = () => `${lid}@lid`

beforeAll(async () => {
  owned = await openOwnedDevices()
  device = await owned.addLinkedDevice(sender)
})
afterAll(() => owned.drop())
beforeEach(() => {
  contacts += 1
  number = `55119876${54_000 + contacts}`
  lid = String(100_000_000_000_000 + contacts)
})

const learn = (fields: { number?: string | null; username?: string } = {}) =>
  learnContacts(owned.db, [{ ...device, lidJid: lidJid(), number, ...fields }])

async function accept(to: { number: string | null; lidJid?: string }) {
  const id = makeMessageId(sender)
  const rest = { url: null, filename: null, sendAt: null, media: null, idempotency: null }
  const message = {
    id,
    waId: whatsAppIdOf(id),
    accountId: owned.accountId,
    sender,
    body: 'x',
    ...rest,
    ...to,
  }
  const [accepted] = await acceptMessages(owned.db, [{ ...message, type: 'text' }], { mediaBytesMax: 0 })
  return { id, accepted }
}

async function receive(consent: 'opt-out' | 'opt-in' | null = null, from: string | null = null) {
  const id = makeMessageId(sender)
  const message = { ...device, id, accountId: owned.accountId, sender, number: from, contactJid: lidJid() }
  const content = { type: 'text' as const, body: 'x', waId: id, linkGeneration: 1, consent }
  await insertReceivedMessages(owned.db, [{ ...message, ...content }])
  return id
}

async function show(id: string) {
  const { messages } = await listMessages(owned.db, owned.accountId, { limit: 200 })
  const found = messages.find((message) => message.id === id)
  if (!found) throw new Error('The message is not in the history')
  const { number, lid, username } = toMessageObject(found)
  return { number, lid, username }
}

const keys = () => ({ number, lid })
const waiting = async () =>
  (
    await listWaitingMessages(owned.db, device.deviceId, {
      except: [],
      exceptNumbers: [],
      without: [],
      limit: 100,
    })
  ).filter((message) => [number, lidJid()].includes(message.number))

async function claim(id: string, recipientJid: string) {
  const [row] = await owned.db.$client<{ createdAt: string }[]>`
    SELECT created_at::text AS "createdAt" FROM messages WHERE id = ${id}`
  const createdAt = row?.createdAt ?? ''
  const [claimed] = await claimFirstMessages(owned.db, [
    { fence: device.fence, id, createdAt, recipientJid, setback: null },
  ])
  return claimed
}

describe('a contact without a known number', () => {
  it('is written to by its LID, and messages show that', async () => {
    const { id, accepted } = await accept({ number: null, lidJid: lidJid() })
    expect(accepted).toMatchObject({
      outcome: 'accepted',
      contact: { key: lidJid(), number: null, lid, username: null },
    })
    expect(await show(id)).toEqual({ number: null, lid, username: null })
    expect(await show(await receive())).toEqual({ number: null, lid, username: null })
    expect(await waiting()).toMatchObject([{ number: lidJid(), recipientJid: lidJid() }])
  })

  it('is a known contact once it has written, and counts once when it has not', async () => {
    const first = await accept({ number: null, lidJid: lidJid() })
    expect(await claim(first.id, lidJid())).toMatchObject({ countedToday: lidJid() })
    const again = await accept({ number: null, lidJid: lidJid() })
    expect(await claim(again.id, lidJid())).toMatchObject({ countedToday: lidJid() })
    lid = `${lid}9`
    await receive()
    const other = await accept({ number: null, lidJid: lidJid() })
    expect(await claim(other.id, lidJid())).toMatchObject({ countedToday: null })
  })

  it('opts out with a word, and in again', async () => {
    await receive('opt-out')
    const { id } = await accept({ number: null, lidJid: lidJid() })
    expect(await claim(id, lidJid())).toMatchObject({ isOptedOut: true })
    await receive('opt-in')
    expect(await claim(id, lidJid())).toMatchObject({ isOptedOut: false })
  })

  it('has its user name in every message, also in earlier ones', async () => {
    const id = await receive()
    await learn({ number: null, username: 'ann.b' })
    expect(await show(id)).toEqual({ number: null, lid, username: 'ann.b' })
    await learn({ username: 'ann.c' })
    await learn()
    expect(await show(id)).toEqual({ ...keys(), username: 'ann.c' })
  })
})

describe('when the number of a LID is learnt', () => {
  it('messages that wait or were received have it, and are found by it', async () => {
    const ids = [await receive(), (await accept({ number: null, lidJid: lidJid() })).id]
    const byNumber = await accept({ number })
    await learn()
    for (const id of [...ids, byNumber.id]) expect(await show(id)).toMatchObject(keys())
    expect(await waiting()).toMatchObject([
      { number, recipientJid: lidJid() },
      { number, recipientJid: null },
    ])
    const all = [...ids, byNumber.id].reverse()
    const list = async (filter: object) =>
      (await listMessages(owned.db, owned.accountId, { ...filter, limit: 10 })).messages.map(({ id }) => id)
    expect(await list({ number })).toEqual(all)
    expect(await list({ lid, contactKey: number })).toEqual(all)
  })

  it('its opt-out counts for both, in every form of the number', async () => {
    await receive('opt-out')
    await learn()
    const found = await listOptOuts(owned.db, owned.accountId, { after: undefined, limit: 100 })
    expect(found.filter(({ key }) => [number, lidJid()].includes(key))).toMatchObject([
      { key: number, contact: { lidJid: lidJid() } },
    ])
    const other = number.replace(/^(55..)9/, '$1')
    for (const to of [{ number: other }, { number: null, lidJid: lidJid() }]) {
      const { id } = await accept(to)
      expect(await claim(id, to.lidJid ?? `${other}@s.whatsapp.net`)).toMatchObject({ isOptedOut: true })
    }
    expect(await deleteOptOut(owned.db, owned.accountId, number)).toBe(true)
  })

  it('an opt-out of the number counts for a message that was stored under the LID meanwhile', async () => {
    await insertOptOut(owned.db, owned.accountId, number)
    await learn()
    const { id } = await accept({ number: null, lidJid: lidJid() })
    await owned.db.$client`
      WITH gone AS (DELETE FROM opt_outs WHERE number = ${lidJid()}) UPDATE messages SET number = ${lidJid()} WHERE id = ${id}`
    expect(await claim(id, lidJid())).toMatchObject({ isOptedOut: true })
  })

  it('learning it and the receipts of its messages wait for each other', async () => {
    const ids = await Promise.all(
      Array.from({ length: 400 }, async () => (await accept({ number: null, lidJid: lidJid() })).id),
    )
    for (let round = 0; round < 10; round++) {
      await owned.db.$client`
        UPDATE messages SET number = ${lidJid()}, status = 'sent', delivered_at = NULL WHERE id = ANY (${ids})`
      const receipts = ids.map((messageId) => ({
        fence: device.fence,
        deviceId: device.deviceId,
        messageId,
        status: 'delivered' as const,
        at: new Date().toISOString(),
        recipientJid: lidJid(),
        saidBy: { jid: lidJid(), otherJid: null },
      }))
      await Promise.all([learn(), recordOutcomes(owned.db, receipts)])
    }
    const moved = await owned.db.$client`SELECT FROM messages WHERE id = ANY (${ids}) AND number = ${number}`
    expect(moved).toHaveLength(ids.length)
  })

  it('it has one opt-out, also if both were on the list', async () => {
    await insertOptOut(owned.db, owned.accountId, lidJid())
    await insertOptOut(owned.db, owned.accountId, number)
    await learn()
    expect(await deleteOptOut(owned.db, owned.accountId, number)).toBe(true)
    expect(await deleteOptOut(owned.db, owned.accountId, lidJid())).toBe(false)
  })

  it('it counts as one new contact', async () => {
    const before = (await findSentToday(owned.db, device.deviceId, 0)).newContacts.length
    const byLid = await accept({ number: null, lidJid: lidJid() })
    await claim(byLid.id, lidJid())
    const byNumber = await accept({ number })
    await claim(byNumber.id, `${number}@s.whatsapp.net`)
    expect((await findSentToday(owned.db, device.deviceId, 0)).newContacts.length).toBe(before + 2)
    await learn()
    expect((await findSentToday(owned.db, device.deviceId, 0)).newContacts.length).toBe(before + 1)
  })

  it('what follows is stored under the number, however it is addressed', async () => {
    await learn()
    const { accepted } = await accept({ number: null, lidJid: lidJid() })
    expect(accepted).toMatchObject({ contact: { key: number, ...keys() } })
    const other = number.replace(/^(55..)9/, '$1')
    const { accepted: ofOther } = await accept({ number: other })
    expect(ofOther).toMatchObject({ contact: { key: other, number: other, lid } })
    expect(await show(await receive())).toMatchObject(keys())
    expect(await findContact(owned.db, owned.accountId, lidJid())).toMatchObject({ key: number, ...keys() })
    expect(await findContact(owned.db, owned.accountId, number)).toMatchObject({ key: number, ...keys() })
  })
})

it('a number that another LID has now is no longer that of the former one', async () => {
  await learn()
  const former = lidJid()
  lid = `${lid}7`
  await learn()
  expect(await findContact(owned.db, owned.accountId, former)).toMatchObject({ key: former, number: null })
  expect(await findContact(owned.db, owned.accountId, number)).toMatchObject({ lid })
})

it('another account knows nothing of it', async () => {
  await learn({ username: 'ann' })
  expect(await findContact(owned.db, owned.accountId + 1, lidJid())).toEqual({
    key: lidJid(),
    number: null,
    lid,
    username: null,
  })
})

it('nothing is learnt without the fence', async () => {
  const stale = { ...device.fence, epoch: device.fence.epoch - 1 }
  const [lost] = await learnContacts(owned.db, [{ ...device, fence: stale, lidJid: lidJid(), number }])
  expect(lost).toBeInstanceOf(OwnershipLost)
  expect(await findContact(owned.db, owned.accountId, lidJid())).toMatchObject({ number: null })
})
