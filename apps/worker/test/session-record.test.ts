import '../src/preload/console-filter.ts'
import '../src/preload/intact-sessions.ts'
import { randomBytes } from 'node:crypto'
import type { SignalFormat } from '@wagate/db/queries/credentials/signal-format'
import type { SignalKeyStore } from 'baileys'
import { expect, test } from 'vitest'
import { makeScopedCache } from '../src/caches/scoped-cache.ts'
import { readMasterKeys } from '../src/config/master-keys.ts'
import { type AuthRows, type CachedAuth, makeAuthStore } from '../src/session/credentials/auth-store.ts'
import { isInParts, makeVault } from '../src/session/credentials/vault.ts'
import { makeSignalContact } from './signal-contacts.ts'

/** Keys that are stored as the worker does. `takeOver` empties the cache, as another owner would begin. */
function makeKeys() {
  const rows = new Map<string, Buffer>()
  const vault = makeVault(readMasterKeys(randomBytes(32)), 1)
  const open = (format: SignalFormat) =>
    makeAuthStore({
      async read(type, ids) {
        const found = ids.map((id) => ({ id, value: rows.get(`${type} ${id}`) }))
        return found.flatMap(({ id, value }) => (value ? [{ id, value }] : []))
      },
      vault,
      format,
      cache: makeScopedCache<CachedAuth>({ sizeMax: 1e6 })(),
      async write(written: AuthRows) {
        for (const { type, id, value } of written) {
          if (value) rows.set(`${type} ${id}`, value)
          else rows.delete(`${type} ${id}`)
        }
      },
    })
  let store = open(2)
  const keys: SignalKeyStore = {
    get: (type, ids) => store.keys.get(type, ids),
    set: (data) => store.keys.set(data),
  }
  const storedSession = () => [...rows].find(([key]) => key.startsWith('session '))?.[1] ?? Buffer.of()
  return {
    keys,
    storedSession,
    takeOver(format: SignalFormat) {
      store = open(format)
    },
  }
}

async function makeConversation() {
  const { keys, ...ours } = makeKeys()
  const us = makeSignalContact('15550000001@s.whatsapp.net', keys)
  const them = makeSignalContact('15550000002@s.whatsapp.net', makeKeys().keys)
  await us.meet(them)
  const write = async () => them.decryptFrom(us, await us.encryptFor(them))
  const answer = async () => us.decryptFrom(them, await them.encryptFor(us))
  await write()
  await answer()
  return { us, them, write, answer, ...ours }
}

/** The number of bytes that two values begin with. */
function sharedStart(one: Buffer, other: Buffer): number {
  const at = one.findIndex((byte, index) => byte !== other[index])
  return at < 0 ? one.length : at
}

test('a conversation goes on after every takeover, whatever format the next owner writes', async () => {
  const { us, them, write, answer, takeOver, storedSession } = await makeConversation()
  for (const [turn, format] of ([1, 2, 2, 1, 1, 2] as const).entries()) {
    await write()
    await write()
    takeOver(format)
    const skipped = await them.encryptFor(us)
    await answer()
    expect(isInParts(storedSession())).toBe(format === 2)
    takeOver(format)
    if (turn % 2 === 0) await us.meet(them)
    await write()
    await us.decryptFrom(them, skipped)
    await answer()
  }
})

test('a further message changes the end of the stored session only, an answer all of it', async () => {
  const { write, answer, storedSession, takeOver } = await makeConversation()
  for (const isTakenOver of [false, true]) {
    await write()
    const before = storedSession()
    if (isTakenOver) takeOver(2)
    await write()
    const after = storedSession()
    expect(after.length).toBe(before.length)
    expect(after.length - sharedStart(before, after)).toBeLessThan(120)
    await answer()
    expect(sharedStart(after, storedSession())).toBeLessThan(30)
  }
})

test('a long conversation does not make the session longer, and messages of its beginning can still arrive', async () => {
  const { us, them, write, answer, takeOver, storedSession } = await makeConversation()
  const late = await them.encryptFor(us)
  await answer()
  const turn = async () => {
    await write()
    await answer()
  }
  for (let n = 0; n < 10; n++) await turn()
  const { length } = storedSession()
  for (let n = 0; n < 10; n++) await turn()
  expect(storedSession().length).toBe(length)
  takeOver(1)
  await us.decryptFrom(them, late)
  await expect(us.decryptFrom(them, late)).rejects.toThrow()
  await turn()
})

test('keys of messages that a contact never sends do not make the session longer and longer', async () => {
  const { us, them, write, answer, storedSession } = await makeConversation()
  const skipped: Awaited<ReturnType<typeof them.encryptFor>>[] = []
  for (let turn = 0; turn < 3; turn++) {
    for (let n = 0; n < 900; n++) skipped.push(await them.encryptFor(us))
    await answer()
    await write()
  }
  // 37 bytes for each of 2,000 keys.
  expect(storedSession().length).toBeLessThan(80_000)
  const oldestKept = skipped.slice(-2000, -1999)
  for (const kept of [...oldestKept, ...skipped.slice(-1)]) await us.decryptFrom(them, kept)
  for (const older of skipped.slice(-2001, -2000)) await expect(us.decryptFrom(them, older)).rejects.toThrow()
  await answer()
}, 60_000)

test('a session of a shape that is not known is stored as it is', async () => {
  const session = { _sessions: {}, version: 'v1' }
  for (const value of [
    session,
    { ...session, addition: 1 },
    { ...session, _sessions: { key: { _chains: {} } } },
  ]) {
    const { keys, storedSession, takeOver } = makeKeys()
    await keys.set({ session: { '1.0': value as never } })
    expect(isInParts(storedSession())).toBe(value === session)
    takeOver(2)
    expect(await keys.get('session', ['1.0'])).toEqual({ '1.0': value })
  }
})
