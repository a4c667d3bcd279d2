import type { BaileysEventMap } from 'baileys'
import { proto } from 'baileys'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'

type History = BaileysEventMap['messaging-history.set']

let sim: Simulator
const companions: Companion[] = []
const spies: { mockRestore: () => void }[] = []

beforeAll(async () => {
  sim = await startSimulator({ port: 0, controlPort: 0 })
}, 30_000)

afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore()
})
afterAll(async () => {
  for (const companion of companions) await companion.end()
  await sim?.close()
})

const { RECENT, FULL, PUSH_NAME, INITIAL_BOOTSTRAP } = proto.HistorySync.HistorySyncType

/** Links a companion, and reads histories until one of this type is complete. */
async function historiesOf(number: string, last: number, syncFullHistory: boolean): Promise<History[]> {
  const companion = await linkedCompanion(sim, number, {
    syncFullHistory,
    shouldSyncHistoryMessage: () => true,
  })
  companions.push(companion)
  const isComplete = () =>
    companion.histories.some(({ syncType, progress }) => syncType === last && progress === 100)
  await companion.until(isComplete, 'the last history', 20_000)
  return companion.histories
}

const idsOf = (histories: History[]): string[] =>
  histories.flatMap(({ messages }) => messages.map(({ key }) => key.id ?? ''))
const typesOf = (histories: History[]) => new Set(histories.map(({ syncType }) => syncType))

it('gives a companion that wants it the whole past of a phone, once, in parts and as files', async () => {
  const number = newNumber()
  const { contacts } = sim.past(number, { chats: 50, messages: 20_000 })
  const histories = await historiesOf(number, FULL, true)
  const ids = idsOf(histories)
  expect(new Set(ids).size).toBe(20_000)
  expect(ids).toHaveLength(20_000)
  expect(typesOf(histories)).toEqual(new Set([INITIAL_BOOTSTRAP, PUSH_NAME, RECENT, FULL]))
  const chats = new Set(
    histories.flatMap((history) => history.chats.map(({ pnJid }) => pnJid?.split('@')[0])),
  )
  expect(chats).toEqual(new Set(contacts))
}, 60_000)

it('gives other companions the newer half, with the same messages for the same seed', async () => {
  const [one, other] = [newNumber(), newNumber()]
  for (const number of [one, other]) sim.past(number, { chats: 10, messages: 2000, seed: 7 })
  const histories = await historiesOf(one, RECENT, false)
  expect(typesOf(histories).has(FULL)).toBe(false)
  expect(idsOf(histories).length).toBeLessThan(1200)
  expect(idsOf(await historiesOf(other, RECENT, false))).toEqual(idsOf(histories))
}, 60_000)

/** The announcements of histories that a companion gets, as Baileys decrypts them. */
function watchAnnouncements(): proto.Message.IHistorySyncNotification[] {
  const seen: proto.Message.IHistorySyncNotification[] = []
  const decode = proto.Message.decode.bind(proto.Message)
  spies.push(
    vi.spyOn(proto.Message, 'decode').mockImplementation((bytes, length) => {
      const message = decode(bytes, length)
      const announced = message.protocolMessage?.historySyncNotification
      if (announced) seen.push(announced)
      return message
    }),
  )
  return seen
}

/** Like Baileys 6.17.16, which says nothing of histories when it is linked. */
function declareNothing(): void {
  const encode = proto.DeviceProps.encode.bind(proto.DeviceProps)
  spies.push(
    vi
      .spyOn(proto.DeviceProps, 'encode')
      .mockImplementation(({ historySyncConfig: _, ...props }, writer) => encode(props, writer)),
  )
}

it.each([
  ['in messages to a client that reads it there', true],
  ['in files to any other', false],
])(
  'gives a small past %s',
  async (_, isInline) => {
    if (!isInline) declareNothing()
    const announced = watchAnnouncements()
    const number = newNumber()
    const { contacts } = sim.past(number, { chats: 4, messages: 200 })
    const histories = await historiesOf(number, RECENT, false)
    expect(new Set(histories.flatMap(({ chats }) => chats.map(({ id }) => id))).size).toBe(contacts.length)
    expect(announced.length).toBeGreaterThan(1)
    for (const { initialHistBootstrapInlinePayload: inline, directPath } of announced) {
      expect([Boolean(inline?.length), Boolean(directPath)]).toEqual([isInline, !isInline])
    }
  },
  30_000,
)

it('knows the people of the past: a message to one of them is not a first message', async () => {
  const number = newNumber()
  const [contact = ''] = sim.past(number, { chats: 2, messages: 10 }).contacts
  const companion = await linkedCompanion(sim, number)
  companions.push(companion)
  sim.timeLock(number, { seconds: 3600 })
  await (await companion.send(contact, { text: 'to a friend' })).ack
  const { id } = await companion.send(newNumber(), { text: 'to a stranger' })
  await companion.until(() => sim.log().some((entry) => entry.wa_message_id === id), 'the refusal')
  expect(
    sim
      .log()
      .slice(-2)
      .map(({ ack }) => ack),
  ).toEqual(['ok', '463'])
}, 30_000)

it('refuses a past that is too large', () => {
  expect(() => sim.past(newNumber(), { chats: 5001, messages: 1 })).toThrow('chats')
  expect(() => sim.past(newNumber(), { chats: 1, messages: 500_001 })).toThrow('messages')
})
