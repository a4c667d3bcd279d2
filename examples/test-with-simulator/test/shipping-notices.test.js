import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { startSimulator } from '@wagate/simulator'
import { socketOptions } from '@wagate/simulator/socket-options'
import { baileys, ShippingNotices } from '../src/shipping-notices.js'

// libsignal prints sessions with private keys through these.
for (const method of ['info', 'warn', 'error']) console[method] = () => {}

const shop = '4915112345678'
const customer = '4917712345678'

let simulator
let folder
let notices
let contacts
before(async () => {
  simulator = await startSimulator()
  contacts = simulator.past(shop, { chats: 8, messages: 300 }).contacts
  folder = await mkdtemp(join(tmpdir(), 'shop-'))
  notices = new ShippingNotices(folder, {
    ...socketOptions(simulator, baileys.WA_CERT_DETAILS),
    onQr: (qr) => simulator.scan({ qr, number: shop }).catch(() => {}),
  })
  await notices.connect()
})
afterEach(() => simulator.clearFaults())
after(async () => {
  await notices?.close()
  await simulator?.close()
  await rm(folder, { recursive: true, force: true })
})

async function baileysVersion() {
  const manifest = join(import.meta.dirname, '../node_modules/baileys/package.json')
  return JSON.parse(await readFile(manifest, 'utf8')).version
}

const lastMessage = () => simulator.messages(customer).at(-1)

test('the shop knows with whom its phone has chatted', { timeout: 30_000 }, async (t) => {
  if ((await baileysVersion()) === '6.7.24')
    return t.skip('It reads no history by default, and no short one at all.')
  while (notices.acquaintances.size < contacts.length) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(notices.acquaintances.size, contacts.length)
})

test('a customer gets the notice', async () => {
  await notices.send(customer, 'A-1')
  assert.equal(lastMessage().text, 'Your order A-1 is on its way.')
  assert.equal(lastMessage().from, shop)
})

test('a customer gets the label with the notice', async () => {
  const label = Buffer.from('%PDF-1.7 of a label')
  await notices.send(customer, 'A-2', label)
  const { mime, sha256 } = lastMessage()
  assert.equal(mime, 'application/pdf')
  assert.equal(sha256, createHash('sha256').update(label).digest('hex'))
})

test('a notice that WhatsApp refuses is an error', async () => {
  simulator.fault({ kind: 'ack_error', sender: shop, code: 463, count: 1 })
  await assert.rejects(notices.send(customer, 'A-3'), /refused/)
})

test('notices go on after a lost connection', async () => {
  const logins = simulator.stats().logins
  simulator.fault({ kind: 'drop', sender: shop })
  while (simulator.stats().logins === logins) await new Promise((resolve) => setTimeout(resolve, 20))
  await notices.send(customer, 'A-4')
  assert.equal(lastMessage().text, 'Your order A-4 is on its way.')
})
