import type { SignalDataSet, SignalKeyStore } from 'baileys'
import { beforeEach, describe, expect, test } from 'vitest'
import { isUsableToken, keepNewestTokens } from '../src/session/credentials/privacy-tokens.ts'

const bucketSeconds = 7 * 86_400
const nowSeconds = Math.floor(Date.now() / 1000)
const [number, lid] = ['4915100000001', '1000000000000001']
const [pn, lidJid] = [`${number}@s.whatsapp.net`, `${lid}@lid`]

const token = (name: string, ageDays = 0) => ({
  token: Buffer.from(name),
  timestamp: String(nowSeconds - ageDays * 86_400),
})

let stored: Map<string, unknown>
let keys: SignalKeyStore

beforeEach(() => {
  stored = new Map()
  keys = keepNewestTokens({
    async get(type, ids) {
      await Promise.resolve()
      return Object.fromEntries(
        ids.flatMap((id) => {
          const value = stored.get(`${type} ${id}`)
          return value ? [[id, value]] : []
        }),
      ) as never
    },
    async set(data) {
      await Promise.resolve()
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values ?? {})) {
          if (value) stored.set(`${type} ${id}`, value)
          else stored.delete(`${type} ${id}`)
        }
      }
    },
  })
})

const set = (value: object | null, jid = lidJid) => keys.set({ tctoken: { [jid]: value } } as SignalDataSet)
const nameOf = (jid = lidJid) =>
  (stored.get(`tctoken ${jid}`) as { token: Buffer } | undefined)?.token.toString()

describe('a stored token', () => {
  test('is replaced by a newer one only', async () => {
    await set(token('first', 8))
    await set(token('late', 15))
    expect(nameOf()).toBe('first')
    await set(token('newer', 1))
    expect(nameOf()).toBe('newer')
  })

  test('is not lost when the time of our own token is written with what was read before', async () => {
    const before = { token: Buffer.alloc(0), senderTimestamp: nowSeconds }
    await Promise.all([set(token('came meanwhile')), set(before)])
    expect(nameOf()).toBe('came meanwhile')
    expect(stored.get(`tctoken ${lidJid}`)).toMatchObject({ senderTimestamp: nowSeconds })
  })

  test('may be removed or replaced once it has expired', async () => {
    await set(token('expired', 60))
    await set(null)
    expect(nameOf()).toBeUndefined()
    await set(token('valid'))
    await set(null)
    expect(nameOf()).toBe('valid')
  })

  test('follows the contact from its number to its LID', async () => {
    await set(token('by number'), pn)
    await keys.set({ 'lid-mapping': { [number]: lid, [`${lid}_reverse`]: number } })
    expect([nameOf(pn), nameOf()]).toEqual([undefined, 'by number'])
  })
})

test('is valid in the bucket of its issue and in the three that follow', () => {
  const nowMs = 100 * bucketSeconds * 1000 + 5000
  const issuedIn = (bucket: number) => ({ token: Buffer.from('x'), timestamp: bucket * bucketSeconds })
  expect([96, 97, 100].map((bucket) => isUsableToken(issuedIn(bucket), nowMs))).toEqual([false, true, true])
  expect(isUsableToken({ timestamp: 100 * bucketSeconds }, nowMs)).toBe(false)
  expect(isUsableToken(undefined, nowMs)).toBe(false)
})
