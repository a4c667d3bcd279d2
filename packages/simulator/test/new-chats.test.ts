import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { Companion } from './companion.ts'
import { eventually } from './eventually.ts'
import { memoryAuth } from './memory-auth.ts'

const number = '15550060001'
let sim: Simulator
let companion: Companion
let strangers = 0
const locks: unknown[] = []
const caps: unknown[] = []

beforeAll(async () => {
  sim = await startSimulator()
  companion = new Companion(sim, memoryAuth())
  const qr = await companion.until(() => companion.qr, 'a QR code')
  await sim.scan({ qr, number })
  await companion.until(() => companion.isOpen, 'the login')
  companion.sock.ev.on('connection.update', ({ reachoutTimeLock }) => {
    if (reachoutTimeLock) locks.push(reachoutTimeLock)
  })
  companion.sock.ev.on('message-capping.update', (cap) => caps.push(cap))
})
afterAll(async () => {
  await companion?.end()
  await sim?.close()
})

const stranger = () => `1555006${1000 + ++strangers}`

async function errorOf(to: string): Promise<string | undefined> {
  const { ack } = await companion.send(to, { text: 'x' })
  return ((await ack) as { attrs: Record<string, string> }).attrs.error
}

describe('a time-lock', () => {
  it('refuses first messages with 463 and lets known contacts be written to', async () => {
    const [contact, writer, giver] = [stranger(), stranger(), stranger()]
    expect(await errorOf(contact)).toBeUndefined()
    sim.timeLock(number, { seconds: 60, notify: false })
    const refused = stranger()
    expect([await errorOf(refused), await errorOf(refused), await errorOf(contact)]).toEqual([
      ...['463', '463', undefined],
    ])
    await sim.send(writer, { to: number, text: 'hello' })
    sim.giveToken(giver, { to: number })
    expect([await errorOf(writer), await errorOf(giver)]).toEqual([undefined, undefined])
    expect(await companion.sock.fetchAccountReachoutTimelock()).toMatchObject({ isActive: true })
    sim.timeLock(number, { seconds: 0, notify: false })
    expect(await errorOf(refused)).toBeUndefined()
    expect(await companion.sock.fetchAccountReachoutTimelock()).toMatchObject({ isActive: false })
  })

  it('is announced, with any type', async () => {
    locks.length = 0
    sim.timeLock(number, { seconds: 60, type: 'A_TYPE_OF_TOMORROW' })
    await eventually(() => locks.length).toBe(1)
    sim.timeLock(number, { seconds: 0 })
    await eventually(() => locks.length).toBe(2)
    expect(locks).toMatchObject([{ isActive: true }, { isActive: false }])
  })
})

describe('a cap of new chats', () => {
  it('counts first messages and refuses further ones with 475', async () => {
    const first = stranger()
    sim.newChatCap(number, { total: 2, seconds: 60 })
    expect([await errorOf(first), await errorOf(first), await errorOf(stranger())]).toEqual([
      ...[undefined, undefined, undefined],
    ])
    expect(await errorOf(stranger())).toBe('475')
    expect(await companion.sock.fetchNewChatMessageCap()).toMatchObject({
      used_quota: '2',
      total_quota: '2',
      capping_status: 'CAPPED',
    })
    await eventually(() => caps.length).toBe(1)
    sim.newChatCap(number, { total: 0, seconds: 0 })
    expect(await errorOf(stranger())).toBeUndefined()
  })
})

describe('questions about it', () => {
  it('can fail, or stay without an answer', async () => {
    sim.fault({ kind: 'new_chat_query_error', code: '500', count: 1 })
    await expect(companion.sock.fetchAccountReachoutTimelock()).rejects.toThrow()
    sim.fault({ kind: 'new_chat_query_omit', count: 1 })
    const asked = companion.sock.fetchAccountReachoutTimelock()
    let isAnswered = false
    asked.then(
      () => (isAnswered = true),
      () => undefined,
    )
    // An answer would have come before that of a later question.
    await companion.sock.fetchNewChatMessageCap()
    expect(isAnswered).toBe(false)
  })
})

it('the ack of a message that missed a device has a hash, and others have none', async () => {
  const contact = stranger()
  const hashOf = async () => {
    const { ack } = await companion.send(contact, { text: 'x' })
    return ((await ack) as { attrs: Record<string, string> }).attrs.phash
  }
  expect(await hashOf()).toBeUndefined()
  sim.fault({ kind: 'changes_omit', number: contact })
  const other = new Companion(sim, memoryAuth())
  const qr = await other.until(() => other.qr, 'a QR code')
  await sim.scan({ qr, number: contact })
  expect(await hashOf()).toMatch(/^2:.{8}$/)
  await other.end()
})

it('refuses nonsense', () => {
  expect(() => sim.timeLock(number, { seconds: -1 })).toThrow('seconds')
  expect(() => sim.newChatCap(number, { total: 1.5, seconds: 1 })).toThrow('total')
  expect(() => sim.forget('x', { from: number })).toThrow('digits')
})
