import { formatEventId } from '@wagate/shared/event-ids'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { EventListener } from '../src/event-streams/event-listener.ts'
import { startLiveReader } from '../src/event-streams/live-reader.ts'
import { type EventFeed, makeEventFeed } from '../src/events/event-feed.ts'
import { untilNextPollMs } from '../src/events/poll-until.ts'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

test('a stream that reaches the present during a read misses no event before that read', async () => {
  const { account, sender } = await createSender(gateway)
  const feed = makeEventFeed(gateway.db, { onEvents: () => async () => undefined })
  let onRead: (() => void) | undefined
  const read: EventFeed['read'] = (...given) => {
    onRead?.()
    onRead = undefined
    return feed.read(...given)
  }
  const reader = startLiveReader(account.userId, {
    feed: { ...feed, read },
    getLinker: async () => () => '',
    onError: (error) => expect.fail(String(error)),
    onIdle: () => undefined,
  })
  const start = formatEventId(await feed.start('latest'))
  const send = () => account.post('/send-message', { sender, number: '4915199999999', message: 'Hello' })

  const first = open(start)
  reader.add(first.listener)
  await send()
  await expect.poll(() => first.ids.length, { timeout: 10_000 }).toBe(1)
  await send()
  const second = open(start)
  onRead = () => reader.add(second.listener)
  await expect.poll(() => second.ids.length, { timeout: 10_000 }).toBeGreaterThan(0)
  await expect.poll(() => first.ids.length, { timeout: 10_000 }).toBe(2)
  await expect.poll(() => second.ids, { timeout: 5000 }).toEqual(first.ids)
  first.listener.end()
  second.listener.end()
})

test('an event that becomes readable only after its hint is sent without waiting for the next poll', async () => {
  const { account, sender } = await createSender(gateway)
  let hint: (accountId: number) => void = () => undefined
  const feed = makeEventFeed(gateway.db, {
    onEvents(listener) {
      hint = listener
      return async () => undefined
    },
  })
  let reading = 0
  const read: EventFeed['read'] = (...given) => {
    reading += 1
    return feed.read(...given).finally(() => {
      reading -= 1
    })
  }
  const start = await feed.start('latest')
  const stream = open(formatEventId(start))
  const earlier = await gateway.db.$client.reserve()
  await earlier`BEGIN`
  await earlier`SELECT pg_current_xact_id()`
  await account.post('/send-message', { sender, number: '4915199999999', message: 'Hello' })

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const untilRead = () => expect.poll(() => reading, { interval: 1 }).toBe(0)
  async function pass(ms: number) {
    for (let passed = 0; passed < ms; passed += 10) {
      await vi.advanceTimersByTimeAsync(10)
      await untilRead()
    }
  }
  try {
    const reader = startLiveReader(account.userId, {
      feed: { ...feed, read },
      getLinker: async () => () => '',
      onError: (error) => expect.fail(String(error)),
      onIdle: () => undefined,
    })
    reader.add(stream.listener)
    // The polls that follow a new listener are over, and the next one is most of a second away.
    await pass(1000)
    await pass(untilNextPollMs())
    hint(account.userId)
    await untilRead()
    await earlier`COMMIT`
    expect(stream.ids).toEqual([])
    // Transactions of other tests hold it back as well.
    const after = { after: start, limit: 1 }
    const listReadable = async () => (await feed.read(account.userId, after, stream.listener.over)).events
    await expect.poll(listReadable).toHaveLength(1)
    await pass(500)
    expect(stream.ids).toHaveLength(1)
  } finally {
    vi.useRealTimers()
    earlier.release()
    stream.listener.end()
  }
})

function open(cursor: string) {
  const listener = new EventListener({
    cursor,
    filter: {},
    hangUp: () => undefined,
    onEnd: () => undefined,
  })
  const ids: string[] = []
  const decoder = new TextDecoder()
  void listener.readable.pipeTo(
    new WritableStream({
      write(chunk) {
        ids.push(...[...decoder.decode(chunk).matchAll(/^id: (\w+)/gm)].map(([, id = '']) => id))
      },
    }),
  )
  return { listener, ids }
}
