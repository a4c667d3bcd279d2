import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const daySeconds = 86_400

let system: TestSystem
let gateway: GatewayClient
let sendsTokens = true
let numbers = 0
/** Of the present test. */
let sender = ''

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    shards: 4,
    environment: () => ({ FIRST_MESSAGE_TOKENS: String(sendsTokens) }),
  })
  gateway = system.gateway
}, 60_000)

beforeEach(() => {
  sender = newNumber()
})
afterEach(() => system?.phones.clearFaults())
afterAll(() => system?.close(), 30_000)

const newNumber = () => `1555140${1000 + ++numbers}`

/** Someone who accepts first messages only with a token. */
async function strictContact(): Promise<string> {
  const number = newNumber()
  await gateway.control(`/chats/${number}/privacy`, { first_messages: 'token' })
  return number
}

const giveToken = (contact: string, ageDays = 0) =>
  gateway.control(`/chats/${contact}/token`, { to: sender, age_seconds: ageDays * daySeconds })
const tokensOf = (number: string) =>
  gateway.control<{ from: string; issued_at: number }[]>(`/chats/${number}/tokens`)

/** What the message carried, and the ack of WhatsApp. */
async function outcomeOf(messageId: string) {
  const { wa_message_id: waId } = await gateway.messageStatus(messageId)
  const entry = (await system.phones.log()).find(({ wa_message_id: id }) => id === waId)
  return entry && { token: entry.token, ack: entry.ack }
}

async function deliver(number: string) {
  return outcomeOf((await gateway.deliver(sender, number)).message_id)
}

async function untilFailed(number: string) {
  const messageId = await gateway.send(sender, number)
  await gateway.untilStatus(messageId, 'failed')
  return outcomeOf(messageId)
}

/** Stored values of the device. */
async function stored(type: string): Promise<string[]> {
  const rows = await system.database.$client<{ id: string }[]>`
    SELECT device_auth.id FROM device_auth JOIN devices ON devices.id = device_id
    WHERE sender = ${sender} AND type = ${type} ORDER BY device_auth.id`
  return rows.map(({ id }) => id)
}

const untilStored = (type: string, count: number) =>
  until(`${count} of ${type} are stored`, async () => (await stored(type)).length === count)

async function restartWorker(): Promise<void> {
  await system.devnet.stop('worker-1')
  await system.devnet.start('worker-1')
}

describe('the privacy token of a contact', () => {
  it('goes with messages, also after a restart, and an older one that comes late does not replace it', async () => {
    await system.phones.fault({ kind: 'salt_omit', sender })
    await gateway.link(sender)
    const contact = await strictContact()
    expect(await untilFailed(contact)).toEqual({ token: null, ack: '463' })
    await giveToken(contact, 21)
    await untilStored('token-holder', 1)
    await giveToken(contact, 27)
    await giveToken(contact, 35)
    await giveToken(newNumber())
    await untilStored('token-holder', 2)
    await restartWorker()
    expect(await deliver(contact)).toEqual({ token: 'tctoken', ack: 'ok' })
    expect((await system.phones.stats()).invalid_tokens).toBe(0)
  }, 60_000)

  it('comes with the history, packed or as a file', async () => {
    await system.phones.fault({ kind: 'salt_omit', sender })
    const [early, late] = [await strictContact(), await strictContact()]
    await gateway.control(`/chats/${early}/send`, { to: sender, text: 'hello' })
    await giveToken(early)
    await gateway.link(sender)
    await untilStored('token-holder', 1)
    expect(await deliver(early)).toEqual({ token: 'tctoken', ack: 'ok' })

    await gateway.control(`/chats/${late}/token`, { to: sender, notify: false })
    await gateway.control(`/chats/${sender}/send`, { to: late, text: 'from the phone' })
    await gateway.control(`/chats/${sender}/history`, { as_file: true })
    await untilStored('token-holder', 2)
    expect(await deliver(late)).toEqual({ token: 'tctoken', ack: 'ok' })
  })

  it('is given to the contact once in each bucket, with the first message', async () => {
    await gateway.link(sender)
    const contact = newNumber()
    for (let count = 1; count <= 3; count++) await deliver(contact)
    const given = await until('the contact has the token', async () => {
      const tokens = await tokensOf(contact)
      return tokens.length > 0 && tokens
    })
    expect(given).toEqual([{ from: sender, issued_at: expect.any(Number) }])
    await restartWorker()
    await deliver(contact)
    // What is given with this message comes after anything that is given with the message before it.
    const other = newNumber()
    await deliver(other)
    await until('the other contact has the token', async () => (await tokensOf(other)).length > 0)
    expect(await tokensOf(contact)).toHaveLength(1)
  }, 60_000)
})

describe('the proof of an account', () => {
  it('opens first chats, until the contact gives its token', async () => {
    await gateway.link(sender)
    await untilStored('account-salt', 1)
    const contact = await strictContact()
    expect(await deliver(contact)).toEqual({ token: 'cstoken', ack: 'ok' })
    await giveToken(contact)
    await untilStored('token-holder', 1)
    expect(await deliver(contact)).toEqual({ token: 'tctoken', ack: 'ok' })
    expect((await system.phones.stats()).invalid_tokens).toBe(0)
  })

  it('follows the app state when WhatsApp renews the salt, also after a restart', async () => {
    await system.phones.fault({ kind: 'salt_omit', sender })
    await gateway.link(sender)
    expect(await untilFailed(await strictContact())).toEqual({ token: null, ack: '463' })
    // The first renewal is a file to download, the second one a change.
    for (let count = 1; count <= 2; count++) {
      await gateway.control(`/chats/${sender}/salt`, {})
      await until('the proof is valid', async () => (await deliver(newNumber()))?.token === 'cstoken')
    }
    await restartWorker()
    expect(await deliver(await strictContact())).toEqual({ token: 'cstoken', ack: 'ok' })
  }, 60_000)

  it('is not sent when the setting is off', async () => {
    await gateway.link(sender)
    await untilStored('account-salt', 1)
    sendsTokens = false
    await restartWorker()
    expect(await untilFailed(await strictContact())).toEqual({ token: null, ack: '463' })
    sendsTokens = true
    await restartWorker()
    expect(await deliver(await strictContact())).toEqual({ token: 'cstoken', ack: 'ok' })
  }, 60_000)

  it('is sealed, and wiped with the link', async () => {
    await gateway.link(sender)
    await untilStored('account-salt', 1)
    const [row] = await system.database.$client<{ value: Buffer }[]>`
      SELECT value FROM device_auth JOIN devices ON devices.id = device_id
      WHERE sender = ${sender} AND type = 'account-salt'`
    expect(row?.value.toString('latin1')).not.toContain('Buffer')
    await gateway.call('logout-device', { sender })
    await untilStored('account-salt', 0)
    expect(await stored('tctoken')).toEqual([])
  })
})
