import { createHmac, randomBytes } from 'node:crypto'
import { type BinaryNode, proto } from 'baileys'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { lidJid } from '../src/network/jid.ts'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newId, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

const daySeconds = 86_400

let sim: Simulator
let companion: Companion
let strict: string

beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
})
beforeEach(() => {
  strict = newNumber()
  sim.privacy(strict, { first_messages: 'token' })
})
afterAll(async () => {
  await companion?.end()
  await sim?.close()
})

/** The error of the ack. Baileys adds the token that it holds of the contact, if it has not expired. */
async function errorOf(to: string, nodes: BinaryNode[] = [], from = companion): Promise<string | undefined> {
  const messageId = newId()
  const ack = from.sock.waitForMessage(messageId, 10_000)
  ack.catch(() => {})
  const message = { conversation: 'x' }
  await from.sock.relayMessage(`${to}@s.whatsapp.net`, message, { messageId, additionalNodes: nodes })
  return ((await ack) as BinaryNode).attrs.error
}

async function heldToken(contact: string): Promise<Buffer> {
  const read = async () =>
    (await companion.auth.keys.get('tctoken', [lidJid(contact)]))[lidJid(contact)]?.token
  await eventually(async () => (await read())?.length).toBe(16)
  return Buffer.from((await read()) as Uint8Array)
}

const tokenNode = (tag: string, content: Uint8Array): BinaryNode => ({ tag, attrs: {}, content })
const proofs = () => sim.log().map(({ token }) => token)

describe('a phone that asks for a token', () => {
  it('is not written to without one, and is written to with the one that it gave', async () => {
    expect(await errorOf(strict)).toBe('463')
    expect(await errorOf(newNumber())).toBeUndefined()
    sim.giveToken(strict, { to: companion.number })
    await heldToken(strict)
    expect(await errorOf(strict)).toBeUndefined()
    expect(proofs().slice(-3)).toEqual([null, null, 'tctoken'])
    sim.privacy(strict, { first_messages: 'anyone' })
    expect(() => sim.privacy(strict, { first_messages: 'nobody' })).toThrow('anyone, token')
  })

  it('refuses a wrong token, that of another contact and one that has expired, and counts them', async () => {
    const { invalid_tokens: before } = sim.stats()
    const other = newNumber()
    sim.giveToken(other, { to: companion.number })
    const foreign = await heldToken(other)
    expect(await errorOf(strict, [tokenNode('tctoken', randomBytes(16))])).toBe('463')
    expect(await errorOf(strict, [tokenNode('tctoken', foreign)])).toBe('463')

    sim.giveToken(strict, { to: companion.number, age_seconds: 28 * daySeconds })
    const expired = await heldToken(strict)
    expect(await errorOf(strict, [tokenNode('tctoken', expired)])).toBe('463')
    expect(sim.stats().invalid_tokens).toBe(before + 3)

    sim.giveToken(strict, { to: companion.number, age_seconds: 21 * daySeconds })
    await heldToken(strict)
    expect(await errorOf(strict)).toBeUndefined()
    expect(proofs().slice(-4)).toEqual(['invalid', 'invalid', 'invalid', 'tctoken'])
  })

  it('answers an account that gives it a token with the newest one that it gave', async () => {
    const { sock, number } = companion
    sim.giveToken(strict, { to: number, age_seconds: 8 * daySeconds })
    sim.giveToken(strict, { to: number, age_seconds: 15 * daySeconds })
    const answer = await sock.issuePrivacyTokens([`${strict}@s.whatsapp.net`], 1_700_000_000)
    expect(sim.tokens(strict)).toEqual([{ from: number, issued_at: 1_700_000_000 }])
    const issued = sim.tokens(number).filter(({ from }) => from === strict)
    expect(issued.map(({ issued_at }) => issued_at)).toEqual([expect.any(Number), expect.any(Number)])
    expect(JSON.stringify(answer)).toContain(`"t":"${issued[1]?.issued_at}"`)
  })
})

describe('the salt of an account', () => {
  const decoded: Uint8Array[] = []

  beforeAll(() => {
    const { HistorySync, SyncActionData } = proto
    for (const type of [HistorySync, SyncActionData] as { decode(bytes: Uint8Array): unknown }[]) {
      const { decode } = type
      vi.spyOn(type, 'decode').mockImplementation((bytes) => {
        decoded.push(bytes)
        return decode(bytes)
      })
    }
  })

  /** The bytes behind the tag and length of the field, in a message that was decoded since the last call. */
  function saltAfter(...header: number[]): Buffer | undefined {
    for (const message of decoded.splice(0).map((bytes) => Buffer.from(bytes))) {
      const at = message.indexOf(Buffer.from(header))
      if (at >= 0) return message.subarray(at + header.length, at + header.length + 32)
    }
    return undefined
  }

  const historyField = [0x9a, 0x01, 32]
  const appStateField = [0x82, 0x05, 34, 0x0a, 32]
  const coldNode = (salt: Buffer, to: string) =>
    tokenNode('cstoken', createHmac('sha256', salt).update(lidJid(to)).digest())

  it('comes with the history, and opens a first chat with its proof only', async () => {
    const other = await linkedCompanion(sim)
    await other.until(() => other.historyCompleted, 'the history')
    const salt = saltAfter(...historyField) ?? Buffer.alloc(0)
    expect(salt).toHaveLength(32)
    const { invalid_tokens: before } = sim.stats()
    expect(await errorOf(strict, [coldNode(salt, newNumber())], other)).toBe('463')
    expect(await errorOf(strict, [coldNode(salt, strict)], companion)).toBe('463')
    const both = [coldNode(salt, strict), tokenNode('tctoken', randomBytes(16))]
    expect(await errorOf(strict, both, other)).toBe('463')
    expect(sim.stats().invalid_tokens).toBe(before + 3)
    expect(await errorOf(strict, [coldNode(salt, strict)], other)).toBeUndefined()
    expect(proofs().at(-1)).toBe('cstoken')

    sim.timeLock(other.number, { seconds: 60, notify: false })
    const stranger = newNumber()
    expect(await errorOf(stranger, [coldNode(salt, stranger)], other)).toBe('463')
    await other.end()
  })

  it('is renewed through the app state: as a file for a client without one, and as a change', async () => {
    const download = vi.spyOn(globalThis, 'fetch').mockImplementation((url) => realFetch(localUrl(url)))
    const appStateMacVerification = { patch: true, snapshot: true }
    const number = newNumber()
    sim.fault({ kind: 'salt_omit', sender: number })
    const first = await linkedCompanion(sim, number, { appStateMacVerification })
    await first.until(() => first.historyCompleted, 'the history')
    expect(saltAfter(...historyField)).toBeUndefined()

    sim.renewSalt(number)
    const salt = await untilRenewed()
    expect(await errorOf(strict, [coldNode(salt, strict)], first)).toBeUndefined()
    sim.renewSalt(number)
    const stranger = newNumber()
    sim.privacy(stranger, { first_messages: 'token' })
    expect(await errorOf(stranger, [coldNode(salt, stranger)], first)).toBe('463')
    const renewed = await untilRenewed()

    const second = await linkedCompanion(sim, number, { appStateMacVerification })
    expect(await untilRenewed()).toEqual(renewed)
    // The first renewal, and that of the second companion.
    expect(download).toHaveBeenCalledTimes(2)
    expect(await errorOf(stranger, [coldNode(renewed, stranger)], second)).toBeUndefined()
    download.mockRestore()
    await Promise.all([first.end(), second.end()])
  })

  async function untilRenewed(): Promise<Buffer> {
    const found: Buffer[] = []
    await eventually(() => found.push(...[saltAfter(...appStateField)].flatMap((salt) => salt ?? []))).toBe(1)
    return found[0] as Buffer
  }
  const realFetch = fetch
  const localUrl = (url: unknown) => `http://${sim.mediaHost}${new URL(String(url)).pathname}`
})

it('lists the chats of the phone in its history, with the tokens of their contacts', async () => {
  const [number, writer, reader] = [newNumber(), newNumber(), newNumber()]
  await sim.send(writer, { to: number, text: 'to the phone' })
  await sim.send(number, { to: reader, text: 'from the phone' })
  sim.giveToken(writer, { to: number })
  const linked = await linkedCompanion(sim, number)
  await linked.until(() => linked.chats.length > 0, 'the history')
  const chatWith = (contact: string) => linked.chats.find(({ id }) => id === lidJid(contact))
  expect(chatWith(writer)).toMatchObject({
    pnJid: `${writer}@s.whatsapp.net`,
    lastMessageRecvTimestamp: expect.any(Number),
    tcToken: expect.any(Uint8Array),
  })
  expect(chatWith(reader)).toMatchObject({ conversationTimestamp: expect.anything() })
  expect(chatWith(reader)).not.toHaveProperty('lastMessageRecvTimestamp')
  await linked.end()
})
