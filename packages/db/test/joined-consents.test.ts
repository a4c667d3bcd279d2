import { makeMessageId } from '@wagate/shared/ids'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import type { Consent } from '../src/queries/contacts/consent-steps.ts'
import { findContact } from '../src/queries/contacts/known-contacts.ts'
import { learnContacts } from '../src/queries/contacts/learn-contacts.ts'
import { deleteOptOut, insertOptOut, isOptedOut, listOptOuts } from '../src/queries/contacts/opt-outs.ts'
import { insertReceivedMessages } from '../src/queries/messages/received-messages.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
let device: OwnedDevice
const sender = '4915100000000'
beforeAll(async () => {
  owned = await openOwnedDevices()
  device = await owned.addDevice(sender)
})
beforeEach(() => forget())
afterAll(() => owned.drop())

/** Two people by LID, and three numbers, one of them with two forms. */
const keys = { a: '11@lid', b: '22@lid', p: '5511987654321', q: '4915187654322', r: '4915187654323' } as const
type Name = keyof typeof keys
const otherFormOfP = '551187654321'
/** `a=p`: the number of a LID is learnt. `-a`, `+a`: it opts out or in with a word. `/p`, `*p`: through the API. */
type Step = `${'a' | 'b'}=${'p' | 'q' | 'r'}` | `${'-' | '+' | '/' | '*'}${Name}`

const forget = () => owned.db.$client`
  WITH outs AS (DELETE FROM opt_outs), ins AS (DELETE FROM opt_ins), told AS (DELETE FROM events) DELETE FROM contacts`

const learnt = (step: string) => {
  const [lid, number] = step.split('=') as [Name, Name]
  return { ...device, lidJid: keys[lid], number: keys[number] }
}

async function say(key: string, consent: Consent) {
  const id = makeMessageId(sender)
  const from = key.endsWith('@lid') ? { number: null, contactJid: key } : { number: key }
  const message = {
    ...device,
    id,
    accountId: owned.accountId,
    sender,
    ...from,
    type: 'text' as const,
    body: 'x',
  }
  await insertReceivedMessages(owned.db, [{ ...message, waId: id, linkGeneration: 1, consent }])
}

async function take(step: Step) {
  if (step.includes('=')) await learnContacts(owned.db, [learnt(step)])
  const key = keys[step.slice(1) as Name]
  if (step.startsWith('-')) await say(key, 'opt-out')
  if (step.startsWith('+')) await say(key, 'opt-in')
  if (step.startsWith('/')) await insertOptOut(owned.db, owned.accountId, key)
  if (step.startsWith('*')) await deleteOptOut(owned.db, owned.accountId, key)
}

async function isRefused(key: string): Promise<boolean> {
  const { key: stored } = await findContact(owned.db, owned.accountId, key)
  const jid = key.endsWith('@lid') ? key : `${key}@s.whatsapp.net`
  const sql = owned.db.$client
  const [row] = await sql<{ isOptedOut: boolean }[]>`
    SELECT ${isOptedOut(sql)} AS "isOptedOut" FROM (VALUES (${owned.accountId}::int, ${stored}::text, ${jid}::text))
      AS message (account_id, number, recipient_jid)`
  return row?.isOptedOut ?? false
}

async function refused(): Promise<string> {
  const names = Object.keys(keys) as Name[]
  const answers = await Promise.all(names.map(async (name) => ((await isRefused(keys[name])) ? name : '')))
  return answers.join('')
}

async function listed(): Promise<string[]> {
  const found = await listOptOuts(owned.db, owned.accountId, { after: undefined, limit: 100 })
  return found.map(({ key }) => Object.entries(keys).find(([, known]) => known === key)?.[0] ?? key)
}

const types = async () =>
  (
    await owned.db.$client<
      { type: number }[]
    >`SELECT type FROM events WHERE message_id IS NULL ORDER BY epoch, tx, id`
  ).map(({ type }) => type)

describe('whom the account must not write to', () => {
  test.each<[steps: string, who: string, listed: string, events: number[]]>([
    ['-a a=p', 'ap', 'p', [40]],
    ['-a a=p a=q', 'apq', 'p q', [40]],
    ['-a a=p b=p', 'abp', '11@lid p', [40]],
    ['-p a=p a=q', 'apq', 'p q', [40]],
    ['/p a=p b=p', 'abp', '11@lid p', [40]],
    ['a=p -a a=q', 'apq', 'p q', [40]],
    ['a=p -p b=p', 'abp', '11@lid p', [40]],
    // An opt-in ends it, also what it has left with former numbers.
    ['-a a=p +a', '', '', [40, 41]],
    ['-a a=p *p', '', '', [40, 41]],
    ['-a a=p +p', '', '', [40, 41]],
    ['-a a=p a=q +a', '', '', [40, 41]],
    ['-a a=p a=q *q', '', '', [40, 41]],
    ['/p a=p a=q *p', '', '', [40, 41]],
    ['-p a=p +a a=q', '', '', [40, 41]],
    // That of another person who has the number now does not.
    ['-a a=p b=p +b', 'a', 'a', [40, 41]],
    ['-a a=p b=p *p', 'a', 'a', [40, 41]],
    ['/p a=p b=p +b', 'a', 'a', [40, 41]],
    ['-a a=p b=p +b b=q a=p', 'ap', 'p', [40, 41]],
    ['a=p -a a=q +p b=p', 'aq', 'q', [40, 41]],
    ['-p a=p -a +p b=p', '', '', [40, 41]],
    // Two that turn out to be one person: the later wins.
    ['-a +p a=p', '', '', [40, 41]],
    ['-p +a a=p', '', '', [40, 41]],
    ['+p -a a=p', 'ap', 'p', [40]],
    ['+a -p a=p', 'ap', 'p', [40]],
    ['-p +a -p a=p', 'ap', 'p', [40]],
    ['-a +p -a a=p a=q', 'apq', 'p q', [40]],
    ['-a a=p +q a=q', '', '', [40, 41]],
    ['+p a=p -b b=p', 'bp', 'p', [40]],
    ['-a +a a=p', '', '', [40, 41]],
  ])('%s', async (steps, who, list, events) => {
    for (const step of steps.split(' ')) await take(step as Step)
    expect(await refused()).toBe(who)
    const names = list.split(' ').filter(Boolean)
    expect((await listed()).sort()).toEqual(names.map((name) => (name === '11@lid' ? 'a' : name)).sort())
    expect(await types()).toEqual(events)
    expect(await isRefused(otherFormOfP)).toBe(who.includes('p'))
  })
})

it('of one batch, the words of one person count once, the last one', async () => {
  await take('a=p')
  const word = (from: { number: string | null; contactJid?: string }, consent: Consent) => {
    const id = makeMessageId(sender)
    const message = { ...device, id, accountId: owned.accountId, sender, type: 'text' as const, body: 'x' }
    return { ...message, ...from, waId: id, linkGeneration: 1, consent }
  }
  const byLid = { number: keys.p, contactJid: keys.a }
  const byNumber = { number: otherFormOfP }
  await insertReceivedMessages(owned.db, [
    word(byLid, 'opt-out'),
    word(byNumber, 'opt-in'),
    word(byLid, 'opt-out'),
  ])
  expect(await refused()).toBe('ap')
  await insertReceivedMessages(owned.db, [word(byNumber, 'opt-out'), word(byLid, 'opt-in')])
  expect(await refused()).toBe('')
  expect(await types()).toEqual([40, 41])
})

it('a message that tells the number of its LID opts both out', async () => {
  const id = makeMessageId(sender)
  const message = { ...device, id, accountId: owned.accountId, sender, type: 'text' as const, body: 'x' }
  const from = { number: keys.q, contactJid: keys.a, waId: id, linkGeneration: 1 }
  await insertReceivedMessages(owned.db, [{ ...message, ...from, consent: 'opt-out' }])
  expect(await refused()).toBe('aq')
})

const pairs = ['a=p', 'a=q', 'a=r', 'b=p', 'b=q', 'b=r'] as const
const someKey = fc.constantFrom(...(Object.keys(keys) as Name[]))

it('no opt-out is lost, whatever pairs are learnt in whatever order, and an opt-in ends it', async () => {
  const learning = fc.array(fc.constantFrom(...pairs), { maxLength: 4 })
  const property = fc.asyncProperty(
    someKey,
    fc.constantFrom('-', '/'),
    learning,
    learning,
    someKey,
    fc.constantFrom('+', '*'),
    async (out, how, before, after, back, backHow) => {
      await forget()
      for (const pair of before) await take(pair)
      const partners = (await refusedWith(out)).filter((key) => key !== keys[out])
      await take(`${how}${out}` as Step)
      for (const pair of after) await take(pair)
      for (const key of [keys[out], ...partners]) expect(await isRefused(key)).toBe(true)
      for (const key of await refusedWith(out)) expect(await isRefused(key)).toBe(true)
      await take(`${backHow}${back}` as Step)
      for (const key of await refusedWith(back)) expect(await isRefused(key)).toBe(false)
    },
  )
  await fc.assert(property, { numRuns: 60 })
})

/** A key, and the other one of the same person at present. */
async function refusedWith(name: Name): Promise<string[]> {
  const { number, lid } = await findContact(owned.db, owned.accountId, keys[name])
  return [keys[name], ...(number ? [number] : []), ...(lid ? [`${lid}@lid`] : [])]
}

it('pairs of one batch have the effect of the same pairs one after the other', async () => {
  const rows = () => owned.db.$client`
    SELECT account_id, 'out' AS kind, number, NULL AS lid_jid FROM opt_outs
    UNION ALL SELECT account_id, 'contact', number, lid_jid FROM contacts ORDER BY 2, 3, 4`
  const learning = fc.array(fc.constantFrom(...pairs), { minLength: 2, maxLength: 5 })
  const property = fc.asyncProperty(someKey, learning, async (out, order) => {
    const results: unknown[] = []
    for (const isBatch of [true, false]) {
      await forget()
      await take(`/${out}`)
      if (isBatch) await learnContacts(owned.db, order.map(learnt))
      else for (const pair of order) await take(pair)
      results.push(await rows())
    }
    expect(results[0]).toEqual(results[1])
  })
  await fc.assert(property, { numRuns: 30 })
})

it('of two LIDs that are told with one number in a batch, the later one has it', async () => {
  await learnContacts(owned.db, [learnt('a=p'), { ...learnt('b=p'), number: otherFormOfP }])
  expect(await findContact(owned.db, owned.accountId, keys.a)).toMatchObject({ number: null })
  expect(await findContact(owned.db, owned.accountId, keys.b)).toMatchObject({ number: otherFormOfP })
})
