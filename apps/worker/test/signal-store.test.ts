import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from 'baileys'
import { describe, expect, it } from 'vitest'
import { makeSignalStore } from '../src/session/signal-store.ts'

/** Stores in memory, each write a turn of the event loop later, and remembers what was written. */
function makeSlowKeys() {
  const stored = new Map<string, unknown>()
  const writes: SignalDataSet[] = []
  const keys: SignalKeyStore = {
    async get<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
      await turn()
      const found: { [id: string]: SignalDataTypeMap[Type] } = {}
      for (const id of ids) {
        const value = stored.get(`${type} ${id}`)
        if (value != null) found[id] = value as SignalDataTypeMap[Type]
      }
      return found
    },
    async set(data) {
      await turn()
      writes.push(data)
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values)) stored.set(`${type} ${id}`, value)
      }
    },
  }
  return { keys, stored, writes }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const text = (value: string) => Buffer.from(value)

describe('the Signal store of a device', () => {
  it('never lets two operations of a session overlap, whatever chat they are for', async () => {
    const { keys, stored } = makeSlowKeys()
    const store = makeSignalStore(keys)
    const step = () => async () => {
      const { chain } = await store.get('session', ['chain'])
      await turn()
      await store.set({ session: { chain: text(`${Number(chain ?? 0) + 1}`) } })
    }
    await Promise.all(Array.from({ length: 20 }, (_, chat) => store.transaction(step(), `chat ${chat}`)))
    expect(`${stored.get('session chain')}`).toBe('20')
  })

  it('has stored what an operation wrote when its result is handed out', async () => {
    const { keys, stored } = makeSlowKeys()
    const store = makeSignalStore(keys)
    const ciphertext = await store.transaction(async () => {
      await store.set({ session: { chain: text('next') } })
      expect(stored.size).toBe(0)
      return 'ciphertext'
    }, 'chat')
    expect(ciphertext).toBe('ciphertext')
    expect(`${stored.get('session chain')}`).toBe('next')
  })

  it('reads its own writes, joins a transaction it is already in, and stores it in one write', async () => {
    const { keys, writes } = makeSlowKeys()
    const store = makeSignalStore(keys)
    await store.transaction(async () => {
      await store.set({ session: { a: text('1'), b: text('1') } })
      await store.transaction(() => store.set({ session: { b: null } }) as Promise<void>, 'inner')
      expect(Object.keys(await store.get('session', ['a', 'b']))).toEqual(['a'])
    }, 'outer')
    expect(writes).toEqual([{ session: { a: text('1'), b: null } }])
  })

  it('stores nothing of an operation that failed, and goes on', async () => {
    const { keys, writes } = makeSlowKeys()
    const store = makeSignalStore(keys)
    const failed = store.transaction(async () => {
      await store.set({ session: { a: text('1') } })
      throw new Error('no session')
    }, 'chat')
    await expect(failed).rejects.toThrow('no session')
    await store.set({ session: { b: text('2') } })
    expect(writes).toEqual([{ session: { b: text('2') } }])
  })

  it('keeps the result back when the write fails', async () => {
    const { keys } = makeSlowKeys()
    const store = makeSignalStore({ ...keys, set: () => Promise.reject(new Error('another owner')) })
    const sent = store.transaction(async () => {
      await store.set({ session: { a: text('1') } })
      return 'ciphertext'
    }, 'chat')
    await expect(sent).rejects.toThrow('another owner')
  })
})
