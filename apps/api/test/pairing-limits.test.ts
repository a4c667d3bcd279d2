import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, linkDevice, ownShards, randomPhone, recordCommands, startGateway } from './gateway.ts'
import { givePairingCode, showQr, waitForPairing } from './play-pairing.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({
    LIMIT_QR_CODES_PER_MINUTE: '2',
    LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '20',
    LIMIT_ACCOUNT_PAIR_CODES_PER_DAY: '3',
  })
  await ownShards(gateway)
})
afterAll(() => gateway.close())

type Account = Awaited<ReturnType<Gateway['createAccount']>>

/** A sender that is linked, so that requests for codes are answered at once. */
async function addLinked(account: Account) {
  const sender = randomPhone()
  const { body } = await account.post('/create-device', { sender })
  await linkDevice(gateway, Number(body.device_id))
  return sender
}

/** A sender whose owner gives out a new code for each request, unless `code` names another one. */
async function addUnlinked(of: Gateway, account: Account, code = makePairingCode) {
  const sender = randomPhone()
  const { body } = await account.post('/create-device', { sender })
  const deviceId = Number(body.device_id)
  const { close } = await recordCommands(of, deviceId, ({ kind }) => {
    if (kind === 'request-pairing-code') void givePairingCode(of, deviceId, code())
  })
  return { sender, deviceId, close }
}

let codes = 0
function makePairingCode(): string {
  codes += 1
  return `K7QX${String(codes).padStart(4, '0')}`
}

async function openSession(of: Gateway, account: Account, sender: string) {
  const { body } = await account.post('/create-link', { sender })
  const secret = new URL(String(body.url)).hash.slice(1)
  const opened = await makeClient(of.url, secret).post('/open-link')
  return makeClient(of.url, String(opened.body.session))
}

async function pairNew(account: Account) {
  const sender = randomPhone()
  const answering = account.post('/pair-code', { sender })
  await givePairingCode(gateway, await waitForPairing(gateway, sender))
  return answering
}

const outcomeOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  `${status} ${body.limit ?? body.code ?? ''}`

async function outcomesOf(calls: (() => ReturnType<Account['post']>)[]) {
  const outcomes = []
  for (const call of calls) outcomes.push(outcomeOf(await call()))
  return outcomes
}

test('a QR code that is still valid is returned without a charge, and a new one is charged', async () => {
  const account = await gateway.createAccount()
  const sender = randomPhone()
  const answering = account.post('/generate-qr', { sender })
  const deviceId = await waitForPairing(gateway, sender)
  await showQr(gateway, deviceId, { text: '2@first' })
  expect((await answering).body.qr_text).toBe('2@first')
  for (let times = 0; times < 5; times++) {
    expect((await account.post('/generate-qr', { sender })).body.qr_text).toBe('2@first')
  }
  await gateway.events.clearQr(deviceId)
  const next = account.post('/generate-qr', { sender })
  await showQr(gateway, deviceId, { text: '2@second', retain: false })
  expect(outcomeOf(await next)).toMatch(/^(200|504)/)
  expect(outcomeOf(await account.post('/generate-qr', { sender }))).toBe('429 generate-qr')
}, 30_000)

test('a person with a link uses up the codes of the link, not those of the account', async () => {
  const account = await gateway.createAccount()
  const linked = await addLinked(account)
  const charged = '409 already_connected'
  const ofLinked = await openSession(gateway, account, linked)
  const calls = [1, 2, 3].map(() => () => ofLinked.post('/generate-qr'))
  expect(await outcomesOf(calls)).toEqual([charged, charged, '429 link-generate-qr'])
  expect(outcomeOf(await account.post('/generate-qr', { sender: linked }))).toBe(charged)

  const { sender, close } = await addUnlinked(gateway, account)
  const session = await openSession(gateway, account, sender)
  const codes = [1, 2, 3, 4].map(() => () => session.post('/pair-code'))
  expect(await outcomesOf(codes)).toEqual(['200 ', '200 ', '200 ', '429 account-pair-code'])
  expect(outcomeOf(await account.post('/pair-code', { sender }))).toBe('200 ')
  await close()
})

test('a code that is still valid is returned without a charge, and another one is charged', async () => {
  const account = await gateway.createAccount()
  let code = 'FIRST111'
  const { sender, close } = await addUnlinked(gateway, account, () => code)
  const session = await openSession(gateway, account, sender)
  const codeOf = async () => (await session.post('/pair-code')).body.pairing_code
  for (let times = 0; times < 6; times++) expect(await codeOf()).toBe('FIRST111')
  for (code of ['SECOND22', 'THIRD333']) expect(await codeOf()).toBe(code)
  code = 'FOURTH44'
  // The second refusal comes before the owner is asked.
  const refused = [1, 2].map(() => () => session.post('/pair-code'))
  expect(await outcomesOf(refused)).toEqual(['429 account-pair-code', '429 account-pair-code'])
  await close()
})

test('an account gets a limited number of pairing codes in a day, over all senders', async () => {
  const account = await gateway.createAccount()
  for (let times = 0; times < 3; times++) expect(outcomeOf(await pairNew(account))).toBe('200 ')
  const refused = await account.post('/pair-code', { sender: randomPhone() })
  expect(outcomeOf(refused)).toBe('429 account-pair-code')
  // A third of a day.
  for (const { headers } of [refused, await account.post('/pair-code', { sender: randomPhone() })]) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(28_000)
  }
  expect(outcomeOf(await pairNew(await gateway.createAccount()))).toBe('200 ')
})

test('requests that notify no phone use up nothing of a day', async () => {
  const account = await gateway.createAccount({ devices_allowed: 4 })
  const linked = await addLinked(account)
  const refused = [1, 2].map(() => () => account.post('/pair-code', { sender: linked }))
  expect(await outcomesOf(refused)).toEqual(['409 already_connected', '409 already_connected'])
  expect(outcomeOf(await account.post('/pair-code', { sender: linked }))).toBe('429 generate-qr')
  for (let times = 0; times < 2; times++) expect(outcomeOf(await pairNew(account))).toBe('200 ')
  const { sender, close } = await addUnlinked(gateway, account)
  for (let times = 0; times < 3; times++) {
    const answer = await account.post('/pair-code', { sender: randomPhone() })
    expect(outcomeOf(answer)).toBe('403 device_limit_reached')
  }
  const last = [1, 2].map(() => () => account.post('/pair-code', { sender }))
  expect(await outcomesOf(last)).toEqual(['200 ', '429 account-pair-code'])
  await close()
})

test('a link has five pairing codes in ten minutes', async () => {
  const limited = await startGateway({ LIMIT_QR_CODES_PER_MINUTE: '6' })
  try {
    await ownShards(limited)
    const account = await limited.createAccount()
    const { sender, deviceId, close } = await addUnlinked(limited, account)
    const session = await openSession(limited, account, sender)
    const codes = [1, 2, 3, 4, 5, 6].map(() => () => session.post('/pair-code'))
    expect(await outcomesOf(codes)).toEqual([...Array<string>(5).fill('200 '), '429 link-pair-code'])
    await close()
    await linkDevice(limited, deviceId)
    expect(outcomeOf(await session.post('/pair-code'))).toBe('409 already_connected')
  } finally {
    await limited.close()
  }
})
