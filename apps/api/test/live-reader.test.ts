import { formatEventId } from '@wagate/shared/event-ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EventListener } from '../src/event-streams/event-listener.ts'
import { startLiveReader } from '../src/event-streams/live-reader.ts'
import { type EventFeed, makeEventFeed } from '../src/events/event-feed.ts'
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
