import type { BaileysEventMap } from 'baileys'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
const companions: Companion[] = []
/** What Baileys finds wrong with the codes of a state, or cannot read. */
const complaints: unknown[] = []

beforeAll(async () => {
  sim = await startSimulator()
}, 30_000)
afterAll(async () => {
  for (const companion of companions) await companion.end()
  expect(complaints).toEqual([])
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

const complain = (_: unknown, message?: string) => {
  if (/app|sync|LTHash|mac/i.test(message ?? '')) complaints.push(message)
}
const logger = {
  ...{ level: 'warn', child: () => logger, warn: complain, error: complain },
  ...{ trace: () => {}, debug: () => {}, info: () => {} },
}

type Mutation = BaileysEventMap['contacts.upsert'][number]

/** Links a companion, and notes what its phone tells it. */
async function link(number: string) {
  const names = new Map<string, string | undefined>()
  const [muted, pinned] = [new Set<string>(), new Set<string>()]
  const companion = await linkedCompanion(sim, number, {
    ...{ logger, appStateMacVerification: { patch: true, snapshot: true } },
  })
  companions.push(companion)
  companion.sock.ev.on('contacts.upsert', (contacts: Mutation[]) => {
    for (const { id, name } of contacts) names.set(id.split('@')[0] ?? '', name)
  })
  // Baileys puts what comes with the first state into the chats of the history.
  const note = (chats: { id?: string | null; muteEndTime?: unknown; pinned?: unknown }[]) => {
    for (const { id, muteEndTime, pinned: pin } of chats) {
      if (id && muteEndTime) muted.add(id)
      if (id && pin) pinned.add(id)
    }
  }
  companion.sock.ev.on('chats.update', note)
  companion.sock.ev.on('messaging-history.set', ({ chats }) => note(chats))
  return { companion, names, muted, pinned }
}

it('tells a new companion the contacts of the person, and which chats are muted and pinned', async () => {
  const number = newNumber()
  const { contacts } = sim.past(number, { chats: 120, messages: 120 })
  const { names, muted, pinned } = await link(number)
  await eventually(() => names.size).toBe(120)
  expect(names.get(contacts[4] ?? '')).toBe('Person 5')
  await eventually(() => [muted.size, pinned.size]).toEqual([12, 3])
})

it('tells companions each change: a name, another one, and that a contact was removed', async () => {
  const number = newNumber()
  sim.past(number, { chats: 40, messages: 40 })
  const { companion, names, muted } = await link(number)
  await eventually(() => names.size).toBe(40)
  const friend = newNumber()
  for (const value of ['Ada', 'Ada Lovelace']) {
    sim.setting(number, { kind: 'name', about: friend, value })
    await eventually(() => names.get(friend)).toBe(value)
  }
  sim.setting(number, { kind: 'name', about: friend, value: null })
  sim.setting(number, { kind: 'mute', about: friend, value: true })
  await eventually(() => muted.size).toBe(5)
  const version = async () => {
    const { critical_unblock_low: state } = await companion.auth.keys.get('app-state-sync-version', [
      'critical_unblock_low',
    ])
    return [state?.version, Object.keys(state?.indexValueMap ?? {}).length]
  }
  await expect.poll(version).toEqual([4, 40])
})

it('tells a companion that was away all changes together, also many', async () => {
  const number = newNumber()
  sim.setting(number, { kind: 'name', about: newNumber(), value: 'First' })
  const { companion } = await link(number)
  const names = new Set<string>()
  await companion.end()
  for (let index = 0; index < 60; index += 1) {
    sim.setting(number, { kind: 'name', about: newNumber(), value: `Later ${index}` })
  }
  companion.reconnect()
  companion.sock.ev.on('contacts.upsert', (contacts) => {
    for (const { name } of contacts) names.add(name ?? '')
  })
  await eventually(() => [...names].filter((name) => name.startsWith('Later')).length).toBe(60)
})

it('refuses a setting that it does not know', () => {
  const number = newNumber()
  for (const request of [
    { kind: 'colour', about: number, value: true },
    { kind: 'mute', about: number, value: 'yes' },
  ]) {
    expect(() => sim.setting(number, request)).toThrow('kind is name')
  }
})
