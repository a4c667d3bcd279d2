import type { LearntContact } from '@wagate/db/queries/contacts/learn-contacts'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { beforeEach, expect, test } from 'vitest'
import { makeScopedCache } from '../src/caches/scoped-cache.ts'
import {
  makeDeviceContacts,
  type NotedContact,
  noteNumbers,
} from '../src/session/contacts/device-contacts.ts'

const number = '15552084103'
const [former, latter] = ['111@lid', '222@lid']

let stored: string[]
beforeEach(() => {
  stored = []
})

function open(store = async ({ lidJid, number }: LearntContact) => void stored.push(`${lidJid} ${number}`)) {
  const scope = makeScopedCache<NotedContact>({ sizeMax: 1000 })
  return makeDeviceContacts({ id: 1, lease: {} as never }, scope(), store as never)
}

test('a pair is stored once a day, and again when the number was told for another LID meanwhile', async () => {
  const contacts = open()
  const told: string[] = []
  contacts.onNumber((lidJid) => told.push(lidJid))
  for (const lidJid of [former, former, latter, latter, former]) await contacts.note({ lidJid, number })
  await contacts.note({ lidJid: former, number: null })
  const news = [former, latter, former]
  expect(stored).toEqual(news.map((lidJid) => `${lidJid} ${number}`))
  expect(told).toEqual(news)
})

test('what could not be stored is stored with the next stanza', async () => {
  let isLost = true
  const contacts = open(async (learnt) => {
    if (isLost) return new OwnershipLost({ shard: 1, epoch: 1 }) as never
    stored.push(learnt.lidJid)
  })
  await expect(contacts.note({ lidJid: former, number })).rejects.toThrow(OwnershipLost)
  isLost = false
  await contacts.note({ lidJid: former, number })
  expect(stored).toEqual([former])
})

test('the pairs of a history are stored in parts, and before Baileys remembers any of them', async () => {
  let underway = 0
  let most = 0
  const noted: string[] = []
  const keys = noteNumbers(
    { get: () => ({}), set: async () => void noted.push('remembered') },
    async ({ number }) => {
      underway += 1
      most = Math.max(most, underway)
      await new Promise(setImmediate)
      underway -= 1
      noted.push(String(number))
    },
  )
  const pairs = Array.from({ length: 250 }, (_, n) => [String(15552084000 + n), String(1000 + n)] as const)
  const reverse = pairs.map(([number, lid]) => [`${lid}_reverse`, number] as const)
  await keys.set({ 'lid-mapping': Object.fromEntries([...pairs, ...reverse]) })
  expect(noted).toEqual([...pairs.map(([number]) => number), 'remembered'])
  expect(most).toBe(100)
})
