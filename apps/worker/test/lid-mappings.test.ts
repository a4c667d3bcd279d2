import { randomBytes } from 'node:crypto'
import type { SignalDataSet } from 'baileys'
import { beforeEach, expect, test } from 'vitest'
import { makeScopedCache } from '../src/caches/scoped-cache.ts'
import { readMasterKeys } from '../src/config/master-keys.ts'
import { noteKnownChats } from '../src/session/contacts/known-chats.ts'
import { type AuthRows, type CachedAuth, makeAuthStore } from '../src/session/credentials/auth-store.ts'
import { makeSignalSection } from '../src/session/credentials/signal-section.ts'
import { makeVault } from '../src/session/credentials/vault.ts'

const [number, otherNumber] = ['15552084101', '15552084102']
const [former, latter] = ['111', '222']
const phone = (digits: string) => `${digits}@s.whatsapp.net`
const lidOf = (digits: string) => `${digits}@lid`
const logger = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => logger,
  level: 'silent',
}

let rows: Map<string, AuthRows[number]>
let vault: ReturnType<typeof makeVault>
beforeEach(() => {
  rows = new Map()
  vault = makeVault(readMasterKeys(randomBytes(32)), 1)
})

/** What a process knows: its store is empty at first, and reads what the one before has written. */
function start() {
  const auth = makeAuthStore({
    read: async (type, ids) =>
      ids.flatMap((id) => {
        const row = rows.get(`${type} ${id}`)
        return row?.value ? [{ id, value: row.value }] : []
      }) as never,
    vault,
    format: 2,
    cache: makeScopedCache<CachedAuth>({ sizeMax: 100_000 })(),
    async write(given) {
      for (const row of given) rows.set(`${row.type} ${row.id}`, row)
    },
  })
  const { lidMapping } = makeSignalSection(auth.keys).makeRepository(
    auth as never,
    logger as never,
    async () => [],
  )
  return {
    auth,
    learn: (lid: string, digits: string) =>
      lidMapping.storeLIDPNMappings([{ lid: lidOf(lid), pn: phone(digits) }]),
    numberOf: async (lid: string) => (await lidMapping.getPNForLID(lidOf(lid)))?.split(':')[0] ?? null,
    lidOf: async (digits: string) => (await lidMapping.getLIDForPN(phone(digits)))?.split('@')[0] ?? null,
  }
}

test.each([
  ['in the process that learnt it', (learnt: ReturnType<typeof start>) => learnt],
  ['after a restart', () => start()],
])('a LID has no number any more once that was told for another LID: %s', async (_, next) => {
  const device = start()
  await device.learn(former, number)
  expect(await device.numberOf(former)).toBe(number)
  await device.learn(latter, number)
  const later = next(device)
  expect([await later.numberOf(former), await later.numberOf(latter)]).toEqual([null, number])
  expect(await later.lidOf(number)).toBe(latter)
})

test.each([
  ['in the process that learnt it', (learnt: ReturnType<typeof start>) => learnt],
  ['after a restart', () => start()],
])('a number has no LID any more once that has another number: %s', async (_, next) => {
  const device = start()
  await device.learn(former, number)
  expect(await device.lidOf(number)).toBe(former)
  await device.learn(former, otherNumber)
  const later = next(device)
  expect([await later.lidOf(number), await later.lidOf(otherNumber)]).toEqual([null, former])
  expect(await later.numberOf(former)).toBe(otherNumber)
})

test('what an earlier version has left of a former LID is not believed, by any reader', async () => {
  const stale: SignalDataSet['lid-mapping'] = {
    [number]: latter,
    [`${latter}_reverse`]: number,
    [`${former}_reverse`]: number,
    '333_reverse': otherNumber,
  }
  await makeRaw(stale)
  const device = start()
  for (const lid of [former, '333']) expect(await device.numberOf(lid)).toBeNull()
  expect(await device.numberOf(latter)).toBe(number)
  expect(await device.lidOf(number)).toBe(latter)
  const token = { token: Buffer.from('token'), timestamp: String(Math.floor(Date.now() / 1000)) }
  await device.auth.keys.set({ tctoken: { [lidOf(former)]: token } })
  const chats = [former, latter].map((lid) => ({
    id: lidOf(lid),
    lastMessageRecvTimestamp: Date.now() / 1000,
  }))
  await noteKnownChats(chats as never, device.auth)
  const noted = (type: string) =>
    [...rows.keys()].filter((key) => key.startsWith(`${type} `)).map((key) => key.split(' ')[1])
  expect(noted('token-holder')).toEqual([lidOf(former)])
  expect(noted('history-chat').sort()).toEqual([lidOf(former), number])
})

test('both forms of one number may have the same LID', async () => {
  const device = start()
  await device.learn(former, '5511987654321')
  await device.learn(former, '551187654321')
  expect(await device.lidOf('5511987654321')).toBe(former)
})

/** As Baileys writes them. */
async function makeRaw(mapping: NonNullable<SignalDataSet['lid-mapping']>) {
  const auth = start().auth
  await auth.writeOwn('lid-mapping', new Map(Object.entries(mapping)))
}
