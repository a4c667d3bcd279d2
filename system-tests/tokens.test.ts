import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const daySeconds = 86_400

let system: TestSystem
let gateway: GatewayClient
let sendsTokens = false
let numbers = 0

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    shards: 4,
    environment: () => ({ FIRST_MESSAGE_TOKENS: String(sendsTokens) }),
  })
  gateway = system.gateway
}, 60_000)

afterAll(() => system?.close(), 30_000)

const newNumber = () => `1555140${1000 + ++numbers}`

/** Someone who accepts first messages only with a token. */
async function strictContact(): Promise<string> {
  const number = newNumber()
  await gateway.control(`/chats/${number}/privacy`, { first_messages: 'token' })
  return number
}

const giveToken = (sender: string, contact: string, ageDays = 0) =>
  gateway.control(`/chats/${contact}/token`, { to: sender, age_seconds: ageDays * daySeconds })
const tokensOf = (number: string) =>
  gateway.control<{ from: string; issued_at: number }[]>(`/chats/${number}/tokens`)

/** What the message carried, and the ack of WhatsApp. */
async function outcomeOf(messageId: string) {
  const { wa_message_id: waId } = await gateway.messageStatus(messageId)
  const entry = (await system.phones.log()).find(({ wa_message_id: id }) => id === waId)
  return entry && { token: entry.token, ack: entry.ack }
}

async function deliver(sender: string, number: string) {
  return outcomeOf((await gateway.deliver(sender, number)).message_id)
}

async function untilFailed(sender: string, number: string) {
  const messageId = await gateway.send(sender, number)
  await gateway.untilStatus(messageId, 'failed')
  return outcomeOf(messageId)
}

/** Stored values of the device. */
async function stored(sender: string, type: string): Promise<string[]> {
  const rows = await system.database.$client<{ id: string }[]>`
    SELECT device_auth.id FROM device_auth JOIN devices ON devices.id = device_id
    WHERE sender = ${sender} AND type = ${type} ORDER BY device_auth.id`
  return rows.map(({ id }) => id)
}

const untilStored = (sender: string, type: string, count: number) =>
  until(`${count} of ${type} are stored`, async () => (await stored(sender, type)).length === count)

async function restartWorker(): Promise<void> {
  await system.devnet.stop('worker-1')
  await system.devnet.start('worker-1')
}

let restartsExpected = 0
const waiting: (() => void)[] = []

/** For the beginning of a test. The returned function starts the worker again, once for all tests that run side by side. */
function shareRestart(): () => Promise<void> {
  restartsExpected += 1
  return async () => {
    restartsExpected -= 1
    if (restartsExpected > 0) return new Promise((resolve) => waiting.push(resolve))
    await restartWorker()
    for (const resume of waiting.splice(0)) resume()
  }
}

it('the proof of an account is not sent when the setting is off', async () => {
  const sender = newNumber()
  await gateway.link(sender)
  await untilStored(sender, 'account-salt', 1)
  expect(await untilFailed(sender, await strictContact())).toEqual({ token: null, ack: '463' })
  sendsTokens = true
  await restartWorker()
  expect(await deliver(sender, await strictContact())).toEqual({ token: 'cstoken', ack: 'ok' })
}, 60_000)

/** The worker is started again once for all of these. */
describe('beside a restart', () => {
  describe.concurrent('the privacy token of a contact', () => {
    it('goes with messages, also after a restart, and an older one that comes late does not replace it', async ({
      expect,
    }) => {
      const sender = newNumber()
      const restarted = shareRestart()
      await system.phones.fault({ kind: 'salt_omit', sender })
      await gateway.link(sender)
      const contact = await strictContact()
      expect(await untilFailed(sender, contact)).toEqual({ token: null, ack: '463' })
      await giveToken(sender, contact, 21)
      await untilStored(sender, 'token-holder', 1)
      await giveToken(sender, contact, 27)
      await giveToken(sender, contact, 35)
      await giveToken(sender, newNumber())
      await untilStored(sender, 'token-holder', 2)
      await restarted()
      expect(await deliver(sender, contact)).toEqual({ token: 'tctoken', ack: 'ok' })
      expect((await system.phones.stats()).invalid_tokens).toBe(0)
    }, 60_000)

    it('is given to the contact once in each bucket, with the first message', async ({ expect }) => {
      const sender = newNumber()
      const restarted = shareRestart()
      await gateway.link(sender)
      const contact = newNumber()
      for (let count = 1; count <= 3; count++) await deliver(sender, contact)
      const given = await until('the contact has the token', async () => {
        const tokens = await tokensOf(contact)
        return tokens.length > 0 && tokens
      })
      expect(given).toEqual([{ from: sender, issued_at: expect.any(Number) }])
      await restarted()
      await deliver(sender, contact)
      // What is given with this message comes after anything that is given with the message before it.
      const other = newNumber()
      await deliver(sender, other)
      await until('the other contact has the token', async () => (await tokensOf(other)).length > 0)
      expect(await tokensOf(contact)).toHaveLength(1)
    }, 60_000)
  })

  describe.concurrent('the proof of an account', () => {
    it('follows the app state when WhatsApp renews the salt, also after a restart', async ({ expect }) => {
      const sender = newNumber()
      const restarted = shareRestart()
      await system.phones.fault({ kind: 'salt_omit', sender })
      await gateway.link(sender)
      expect(await untilFailed(sender, await strictContact())).toEqual({ token: null, ack: '463' })
      // The first renewal is a file to download, the second one a change.
      for (let count = 1; count <= 2; count++) {
        await gateway.control(`/chats/${sender}/salt`, {})
        await until(
          'the proof is valid',
          async () => (await deliver(sender, newNumber()))?.token === 'cstoken',
        )
      }
      await restarted()
      expect(await deliver(sender, await strictContact())).toEqual({ token: 'cstoken', ack: 'ok' })
    }, 60_000)
  })
})

describe('without a restart', () => {
  describe.concurrent('the privacy token of a contact', () => {
    it('comes with the history, packed or as a file', async ({ expect }) => {
      const sender = newNumber()
      await system.phones.fault({ kind: 'salt_omit', sender })
      const [early, late] = [await strictContact(), await strictContact()]
      await gateway.control(`/chats/${early}/send`, { to: sender, text: 'hello' })
      await giveToken(sender, early)
      await gateway.link(sender)
      await untilStored(sender, 'token-holder', 1)
      expect(await deliver(sender, early)).toEqual({ token: 'tctoken', ack: 'ok' })

      await gateway.control(`/chats/${late}/token`, { to: sender, notify: false })
      await gateway.control(`/chats/${sender}/send`, { to: late, text: 'from the phone' })
      await gateway.control(`/chats/${sender}/history`, { as_file: true })
      await untilStored(sender, 'token-holder', 2)
      expect(await deliver(sender, late)).toEqual({ token: 'tctoken', ack: 'ok' })
    })
  })

  describe.concurrent('the proof of an account', () => {
    it('opens first chats, until the contact gives its token', async ({ expect }) => {
      const sender = newNumber()
      await gateway.link(sender)
      await untilStored(sender, 'account-salt', 1)
      const contact = await strictContact()
      expect(await deliver(sender, contact)).toEqual({ token: 'cstoken', ack: 'ok' })
      await giveToken(sender, contact)
      await untilStored(sender, 'token-holder', 1)
      expect(await deliver(sender, contact)).toEqual({ token: 'tctoken', ack: 'ok' })
      expect((await system.phones.stats()).invalid_tokens).toBe(0)
    })

    it('is sealed, and wiped with the link', async ({ expect }) => {
      const sender = newNumber()
      await gateway.link(sender)
      await untilStored(sender, 'account-salt', 1)
      const [row] = await system.database.$client<{ value: Buffer }[]>`
        SELECT value FROM device_auth JOIN devices ON devices.id = device_id
        WHERE sender = ${sender} AND type = 'account-salt'`
      expect(row?.value.toString('latin1')).not.toContain('Buffer')
      await gateway.call('logout-device', { sender })
      await untilStored(sender, 'account-salt', 0)
      expect(await stored(sender, 'tctoken')).toEqual([])
    })
  })
})
