import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isLastTry, unavailableReasonOf } from '../src/session/receiving/unavailable.ts'
import {
  makeUndecryptable,
  type NoteStore,
  type UndecryptableNote,
} from '../src/session/receiving/undecryptable.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

const waitMs = 60_000
const note = (waId: string): UndecryptableNote => ({
  ...{ waId, number: '4915187654321', contactJid: null, failedAtMs: Date.now() },
})

/** What the database has of a device. */
function openStore(): NoteStore & { ids(): string[] } {
  let stored: UndecryptableNote[] | null | undefined
  return {
    read: async () => stored,
    write: async (notes) => {
      stored = notes && structuredClone(notes)
    },
    ids: () => stored?.map(({ waId }) => waId) ?? [],
  }
}

async function expectNotes(store: ReturnType<typeof openStore>, waIds: string[]): Promise<void> {
  // They are written in another turn, and its timers are real.
  for (let turn = 0; turn < 20 && store.ids().length !== waIds.length; turn++) await setImmediate()
  expect(store.ids()).toEqual(waIds)
}

function openSession(store: NoteStore) {
  const reported: string[] = []
  const report = async ({ waId }: UndecryptableNote) => void reported.push(waId)
  const onError = (error: unknown) => expect.unreachable(String(error))
  const undecryptable = makeUndecryptable({ store, report, onError, waitMs })
  undecryptable.resume()
  return { ...undecryptable, reported }
}

test('a message is reported once: at the last try, or when no try has succeeded in time', async () => {
  const store = openStore()
  const session = openSession(store)
  await session.failed(note('late'), false)
  await session.failed(note('last'), false)
  expect(store.ids()).toEqual(['late', 'last'])
  await session.failed(note('last'), true)
  await session.failed(note('opened'), false)
  session.opened('opened')
  expect(session.reported).toEqual(['last'])
  await vi.advanceTimersByTimeAsync(2 * waitMs)
  await session.failed(note('late'), true)
  expect(session.reported).toEqual(['last', 'late'])
  await expectNotes(store, [])
})

test('after the end of a session the next one reports what is due, and takes what arrives meanwhile', async () => {
  const store = openStore()
  const before = openSession(store)
  await before.failed(note('lost'), false)
  await before.failed(note('arrives'), false)
  before.close()
  await vi.advanceTimersByTimeAsync(2 * waitMs)
  expect(before.reported).toEqual([])
  const after = openSession(store)
  await after.failed(note('new'), false)
  expect(store.ids().sort()).toEqual(['arrives', 'lost', 'new'])
  after.opened('arrives')
  await vi.advanceTimersByTimeAsync(waitMs / 2)
  expect(after.reported).toEqual(['lost'])
  await expectNotes(store, ['new'])
})

test('what was noted is not due before its time, also in another session', async () => {
  const store = openStore()
  const before = openSession(store)
  await before.failed(note('A1'), false)
  before.close()
  await vi.advanceTimersByTimeAsync(waitMs / 2)
  const after = openSession(store)
  await vi.advanceTimersByTimeAsync(waitMs / 2 - 1000)
  expect(after.reported).toEqual([])
  await vi.advanceTimersByTimeAsync(2000)
  expect(after.reported).toEqual(['A1'])
})

test('a message that could not be reported is left to the next session', async () => {
  const store = openStore()
  const onError = vi.fn()
  const report = () => Promise.reject(new Error('The session is over'))
  const before = makeUndecryptable({ store, report, onError, waitMs })
  await before.failed(note('A1'), false)
  await vi.advanceTimersByTimeAsync(waitMs)
  expect(onError).toHaveBeenCalledTimes(1)
  before.close()
  const after = openSession(store)
  await vi.advanceTimersByTimeAsync(waitMs)
  expect(after.reported).toEqual(['A1'])
})

const stanza = (tag: string, attrs: Record<string, string> = {}) => ({
  tag: 'message',
  attrs: {},
  content: [{ tag, attrs, ...(tag === 'enc' && { content: Buffer.alloc(1) }) }],
})

test.each([
  ['view_once', 'view_once'],
  ['view_once_unavailable_fanout', 'view_once'],
  ['hosted_unavailable_fanout', 'hosted'],
  ['bot_unavailable_fanout', 'bot'],
  ['another', 'withheld'],
])('an empty message of the type %s is %s', (type, reason) => {
  expect(unavailableReasonOf(stanza('unavailable', { type }))).toBe(reason)
})

test('a message with content is not empty, and the fifth resend is the last', () => {
  expect(unavailableReasonOf(stanza('enc'))).toBeUndefined()
  expect(unavailableReasonOf(stanza('unavailable'))).toBe('withheld')
  expect([undefined, '4', '5'].map((count) => isLastTry(stanza('enc', count ? { count } : {})))).toEqual([
    false,
    false,
    true,
  ])
})
