import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15551470001'
const newcomer = '15551470002'
const recipients = ['15551470011', '15551470012']
const stranger = '15551470013'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

type Phones = { number: string; companions: { pending: number }[] }[]

async function pendingOf(number: string): Promise<number | undefined> {
  const phones = await gateway.control<Phones>('/phones')
  return phones.find((phone) => phone.number === number)?.companions[0]?.pending
}

/** What the gateway keeps of this type for the newcomer. */
const storedOf = (type: string) => system.database.$client`
  SELECT FROM device_auth JOIN devices ON devices.id = device_id WHERE type = ${type} AND sender = ${newcomer}`

/** Sends until `done`, and returns the texts for each recipient. */
async function sendUntil(done: Promise<void>): Promise<string[][]> {
  const state = { isDone: false }
  const end = () => {
    state.isDone = true
  }
  done.then(end, end)
  const texts: string[][] = recipients.map(() => [])
  for (let index = 0; !state.isDone; index += 1) {
    for (const [which, recipient] of recipients.entries()) {
      const text = `message ${index}`
      await gateway.send(sender, recipient, text)
      texts[which]?.push(text)
    }
  }
  return texts
}

/** The person renames contacts. The gateway acknowledges it, and stores nothing of it. */
async function ignoreContacts(contacts: string[]): Promise<void> {
  for (const [index, about] of contacts.slice(0, 5).entries()) {
    await gateway.control(`/chats/${newcomer}/setting`, { kind: 'name', about, value: `Ada ${index}` })
  }
  await until('the changes are confirmed', async () => (await pendingOf(newcomer)) === 0)
  const stored = () => storedOf('app-state-sync-version')
  expect(await stored()).toHaveLength(0)
  // Other settings are in the same collection as the salt of the account, and are fetched.
  await gateway.control(`/chats/${newcomer}/setting`, { kind: 'mute', about: contacts[0], value: true })
  await until('a version is stored', async () => (await stored()).length === 1)
}

it('links a phone with 20,000 messages beside a sender at work, and learns whom it has chatted with', async () => {
  const { contacts } = await gateway.control<{ contacts: string[] }>(`/chats/${newcomer}/past`, {
    chats: 400,
    messages: 20_000,
  })
  const linked = gateway.link(newcomer).then(async () => {
    await until('every part of the history is confirmed', async () => (await pendingOf(newcomer)) === 0)
    await until('the chats are stored', async () => {
      return (await storedOf('history-chat')).length === contacts.length
    })
  })
  const texts = await sendUntil(linked)
  await linked
  for (const [which, recipient] of recipients.entries()) {
    await until('all messages have arrived', async () => {
      const received = await gateway.phone(recipient, sender)
      return received.length === texts[which]?.length
    })
    const received = await gateway.phone(recipient, sender)
    expect(received.map(({ text }) => text)).toEqual(texts[which])
    expect(received.every(({ duplicates }) => duplicates === 0)).toBe(true)
  }
  expect(await gateway.history(`?sender=${newcomer}`)).toEqual([])
  await ignoreContacts(contacts)

  await gateway.control(`/chats/${newcomer}/time-lock`, { seconds: 3600 })
  await until('it is restricted', async () => (await gateway.statusOf(newcomer)).restriction_reason)
  const waiting = await gateway.send(newcomer, stranger)
  for (const contact of [contacts[0], contacts.at(-1)]) await gateway.deliver(newcomer, contact ?? '')
  expect((await gateway.messageStatus(waiting)).status).toBe('queued')
}, 120_000)
