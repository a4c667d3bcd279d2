import type { Command } from '@wagate/shared/commands'
import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, recordCommands, startGatewayWithOwner, startReplica } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const known = '4915199999990'
const missing = '4915199999991'
const jidOf = (number: string) => `${number}@s.whatsapp.net`

/** A sender whose owner answers, and what it was asked. A former owner reads one number of a command. */
async function play({ silentAbout = [] as string[], isFormer = false } = {}) {
  const device = await createSender(gateway)
  const asked: string[][] = []
  const commands = await recordCommands(gateway, device.deviceId, (command: Command) => {
    if (command.kind !== 'check-number') return
    const numbers = isFormer ? [command.number] : [command.number, ...(command.others ?? [])]
    asked.push(numbers)
    for (const number of numbers) {
      if (silentAbout.includes(number)) continue
      const jid = number === missing ? null : jidOf(number)
      void gateway.events.publish(device.deviceId, { kind: 'number', number, jid })
    }
  })
  const check = (numbers: unknown, client = device.account) =>
    client.post('/check-number', { sender: device.sender, numbers })
  return { ...device, ...commands, asked, check }
}

const addContact = (accountId: number, number: string) => gateway.db.$client`
  INSERT INTO contacts (account_id, lid_jid, number, username)
  VALUES (${accountId}, '100000000000777@lid', ${number}, 'ada')`

test('each item of numbers has its result, in their order, and all are one look-up', async () => {
  const owner = await play()
  const stranger = await gateway.createAccount()
  await addContact(owner.account.userId, known)
  await addContact(stranger.userId, missing)
  const given = ['+49 151 99999990', missing, 'x', '', null, 4915199999990, '0151 99999990', `${known}@c.us`]
  const { status, body } = await owner.check(given)
  const expectation = 'must be a phone number: 7 to 15 digits with country prefix'
  const found = { number: known, lid: '100000000000777', username: 'ada', exists: true, jid: jidOf(known) }
  const invalid = { code: 'invalid_parameter' }
  expect(status).toBe(200)
  expect(body).toEqual({
    ok: true,
    results: [
      { given: '+49 151 99999990', ...found },
      { given: missing, number: missing, exists: false },
      { given: 'x', ...invalid, error: `The number ${expectation}.` },
      { given: '', ...invalid, error: `The number ${expectation}.` },
      { given: 'null', ...invalid, error: `The number ${expectation}.` },
      { given: known, ...found },
      {
        given: '0151 99999990',
        ...invalid,
        error: `The number ${expectation}. Put the country prefix in place of the 0.`,
      },
      { given: `${known}@c.us`, ...invalid, error: `The number ${expectation}. Leave out @c.us.` },
    ],
  })
  expect(owner.asked.map((numbers) => numbers.toSorted())).toEqual([[known, missing]])
  await owner.close()
})

test('two forms of one subscriber are looked up once, and each has its result', async () => {
  const owner = await play()
  const [long, short] = ['5511987654321', '551187654321']
  await addContact(owner.account.userId, long)
  const { body } = await owner.check([short, long, short])
  const found = { lid: '100000000000777', username: 'ada', exists: true, jid: jidOf(short) }
  expect(body.results).toEqual([
    { given: short, number: short, ...found },
    { given: long, number: long, ...found },
    { given: short, number: short, ...found },
  ])
  expect(owner.asked).toEqual([[short]])
  await owner.close()
})

test.each([
  ['commas', `${known}, ${missing},`],
  ['JSON in text', `["${known}","${missing}"]`],
])('numbers may be written with %s', async (_, numbers) => {
  const owner = await play()
  const { body } = await owner.check(numbers)
  expect(body.results).toMatchObject([{ exists: true }, { exists: false }])
  const query = `sender=${owner.sender}&numbers=${known}&numbers=${missing}`
  expect((await owner.account.request(`/check-number?${query}`)).body).toEqual({
    ok: true,
    results: [
      { given: known, number: known, exists: true, jid: jidOf(known) },
      { given: missing, number: missing, exists: false },
    ],
  })
  await owner.close()
})

test('a number that WhatsApp does not answer for has the error, and the others have their results', async () => {
  const owner = await play({ silentAbout: [missing] })
  const { status, body } = await owner.check([missing, known])
  expect(status).toBe(200)
  expect(body.results).toEqual([
    {
      given: missing,
      number: missing,
      code: 'unavailable',
      error: 'The number cannot be checked right now. Try again.',
    },
    { given: known, number: known, exists: true, jid: jidOf(known) },
  ])
  await owner.close()
})

test('a worker that reads one number of a command answers for all, asked again', async () => {
  const owner = await play({ isFormer: true })
  const numbers = Array.from({ length: 30 }, (_, index) => `49151888880${100 + index}`)
  const { body } = await owner.check(numbers)
  expect(body.results).toEqual(
    numbers.map((number) => ({ given: number, number, exists: true, jid: jidOf(number) })),
  )
  await owner.close()
})

test('nothing is looked up without a valid number, and an account sees its own senders alone', async () => {
  const owner = await play()
  expect((await owner.check(['x'])).body.results).toMatchObject([{ code: 'invalid_parameter' }])
  const stranger = await gateway.createAccount()
  expect(await owner.check([known], stranger)).toMatchObject({
    status: 404,
    body: { code: 'sender_not_found' },
  })
  expect(owner.asked).toEqual([])
  await owner.close()
})

const howMany = 'numbers must be 1 to 100 phone numbers, as a list or separated by commas'

test.each([
  ['with number', { number: known, numbers: [known] }, 'numbers cannot be given with number'],
  ['with lid', { lid: '100000000000777', numbers: [known] }, 'numbers cannot be given with lid'],
  ['of more than 100', { numbers: Array.from({ length: 101 }, () => known) }, howMany],
  ['of nothing', { numbers: [] }, howMany],
  ['that is an object', { numbers: { a: 1 } }, howMany],
])('a list %s is refused', async (_, given, error) => {
  const { account, sender } = await createSender(gateway)
  expect(await account.post('/check-number', { sender, ...given })).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter', error },
  })
})

test('each subscriber counts as a request, also beyond what the key has left', async () => {
  const replica = await startReplica(gateway, {
    LIMIT_REQUESTS_PER_SECOND: '1',
    LIMIT_REQUESTS_BURST: '20',
    LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '1',
    LIMIT_ACCOUNT_REQUESTS_BURST: '1000',
  })
  const owner = await play()
  const client = makeClient(replica.url, owner.account.apiKey)
  const numbers = Array.from({ length: 5 }, (_, index) => `49151777770${100 + index}`)
  const limitsOf = (headers: Headers) => headers.get('ratelimit')
  const first = await client.post('/check-number', {
    sender: owner.sender,
    numbers: [...numbers, ...numbers, 'x'],
  })
  expect(first.status).toBe(200)
  expect(limitsOf(first.headers)).toMatch(/^"default";r=15;t=\d+$/)
  const many = Array.from({ length: 100 }, (_, index) => `49151666660${100 + index}`)
  const second = await client.post('/check-number', { sender: owner.sender, numbers: many })
  expect(second.status).toBe(200)
  expect(limitsOf(second.headers)).toMatch(/^"default";r=0;t=\d+$/)
  const refused = await client.get('/user-info')
  expect(refused).toMatchObject({ status: 429, body: { limit: 'default' } })
  // A debt of 85 requests, and the one that is to be admitted.
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80)
  // A busy owner may be asked again, for the same.
  expect(new Set(owner.asked[0])).toEqual(new Set(numbers))
  expect(new Set(owner.asked.flat())).toEqual(new Set([...numbers, ...many]))
  await owner.close()
  await replica.close()
})
