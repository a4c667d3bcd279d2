import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, linkDevice, ownShards, randomPhone, startGateway } from './gateway.ts'
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

/** A sender that is linked, so that requests for codes are answered at once, and charged. */
async function addLinked(account: Account) {
  const sender = randomPhone()
  const { body } = await account.post('/create-device', { sender })
  await linkDevice(gateway, Number(body.device_id))
  return sender
}

async function openSession(account: Account, sender: string) {
  const { body } = await account.post('/create-link', { sender })
  const secret = new URL(String(body.url)).hash.slice(1)
  const opened = await makeClient(gateway.url, secret).post('/open-link')
  return makeClient(gateway.url, String(opened.body.session))
}

const outcomeOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  `${status} ${body.limit ?? body.code ?? ''}`

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
  const sender = await addLinked(account)
  const session = await openSession(account, sender)
  const calls = async (name: string, times: number) => {
    const outcomes = []
    while (outcomes.length < times) outcomes.push(outcomeOf(await session.post(`/${name}`)))
    return outcomes
  }
  const charged = '409 already_connected'
  expect(await calls('generate-qr', 3)).toEqual([charged, charged, '429 link-generate-qr'])
  expect(await calls('pair-code', 4)).toEqual([charged, charged, charged, '429 account-pair-code'])
  for (const name of ['generate-qr', 'pair-code']) {
    expect(outcomeOf(await account.post(`/${name}`, { sender }))).toBe(charged)
  }
})

test('an account gets a limited number of pairing codes in a day, over all senders', async () => {
  const account = await gateway.createAccount()
  const pairCode = async () => account.post('/pair-code', { sender: await addLinked(account) })
  for (let times = 0; times < 3; times++) expect(outcomeOf(await pairCode())).toBe('409 already_connected')
  const refused = await pairCode()
  expect(outcomeOf(refused)).toBe('429 account-pair-code')
  // A third of a day.
  for (const { headers } of [refused, await pairCode()]) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(28_000)
  }
  const other = await gateway.createAccount()
  const sender = randomPhone()
  const answering = other.post('/pair-code', { sender })
  await givePairingCode(gateway, await waitForPairing(gateway, sender))
  expect(outcomeOf(await answering)).toBe('200 ')
})

test('a link has five pairing codes in ten minutes', async () => {
  const limited = await startGateway({ LIMIT_QR_CODES_PER_MINUTE: '6' })
  try {
    const account = await limited.createAccount()
    const { body } = await account.post('/create-link', { sender: randomPhone() })
    await linkDevice(limited, Number(body.device_id))
    const secret = new URL(String(body.url)).hash.slice(1)
    const opened = await makeClient(limited.url, secret).post('/open-link')
    const session = makeClient(limited.url, String(opened.body.session))
    for (let times = 0; times < 5; times++) {
      expect(outcomeOf(await session.post('/pair-code'))).toBe('409 already_connected')
    }
    expect(outcomeOf(await session.post('/pair-code'))).toBe('429 link-pair-code')
  } finally {
    await limited.close()
  }
})
