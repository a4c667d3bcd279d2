import type { SignalDataSet, SignalKeyStore } from 'baileys'
import { beforeEach, expect, test } from 'vitest'
import { noteTokenHolders } from '../src/session/credentials/privacy-tokens.ts'

const lid = '1000000000000001'
const number = '4915100000001'
const token = { token: Buffer.from('token'), timestamp: '1000' }
const mapping = { [number]: lid, [`${lid}_reverse`]: number }

let holders: Map<string, unknown>
let writes: number
let keys: SignalKeyStore

beforeEach(() => {
  holders = new Map()
  writes = 0
  const stored = new Map<string, unknown>()
  const store: SignalKeyStore = {
    async get(type, ids) {
      return Object.fromEntries(
        ids.map((id) => [id, stored.get(`${type} ${id}`)]).filter(([, value]) => value),
      )
    },
    async set(data) {
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values ?? {})) stored.set(`${type} ${id}`, value)
      }
    },
  }
  keys = noteTokenHolders(store, {
    async readOwn(_type, ids) {
      return new Map(ids.flatMap((id) => (holders.has(id) ? [[id, holders.get(id)]] : [])))
    },
    async writeOwn(_type, values) {
      writes += 1
      for (const [id, value] of values) {
        if (value === null) holders.delete(id)
        else holders.set(id, value)
      }
    },
  })
})

const set = (data: SignalDataSet) => keys.set(data)

test('a token is noted under the number of its LID, which may become known before or after it', async () => {
  await set({ tctoken: { [`${lid}@lid`]: token } })
  expect(holders).toEqual(new Map([[`${lid}@lid`, 1000]]))
  await set({ 'lid-mapping': mapping })
  expect(holders.get(number)).toBe(1000)
  const other = { lid: '1000000000000002', number: '4915100000002' }
  await set({ 'lid-mapping': { [other.number]: other.lid, [`${other.lid}_reverse`]: other.number } })
  await set({ tctoken: { [`${other.lid}@lid`]: token } })
  expect([...holders.keys()]).toEqual([number, other.number])
})

test('a token by phone number is noted at once, and again only when it is a newer one', async () => {
  const give = (timestamp: string) =>
    set({ tctoken: { [`${number}@s.whatsapp.net`]: { ...token, timestamp } } })
  await give('1000')
  await give('1000')
  expect(writes).toBe(1)
  await give('2000')
  expect(holders).toEqual(new Map([[number, 2000]]))
})

test('a contact to whom only this device gave a token is not noted', async () => {
  const given = { token: Buffer.alloc(0), senderTimestamp: 1000 } as { token: Buffer }
  await set({
    'lid-mapping': mapping,
    tctoken: { [`${lid}@lid`]: given, [`${number}@s.whatsapp.net`]: null },
  })
  expect(writes).toBe(0)
})
