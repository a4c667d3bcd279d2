import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy } from '@wagate/test-kit/tcp-proxy'
import { until } from '@wagate/test-kit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRedisLinks } from '../src/redis-links.ts'
import { consumeWebhookHints, makeWebhookHints } from '../src/webhook-hints.ts'

const closers: (() => Promise<unknown>)[] = []
const onError = () => undefined
let redisUrl: string

beforeEach(async () => {
  redisUrl = await testRedisUrl()
})
afterEach(() => Promise.all(closers.splice(0).map((close) => close())))

function produce(url = redisUrl) {
  const links = openRedisLinks(url, { onError })
  closers.push(links.close)
  return makeWebhookHints(links)
}

function consume(heard: number[], url = redisUrl): void {
  const consumer = consumeWebhookHints(url, { onHint: (webhookId) => heard.push(webhookId), onError })
  closers.push(() => consumer.close())
}

test('each hint wakes one of the dispatchers', async () => {
  const heard: number[] = []
  consume(heard)
  consume(heard)
  const { add } = produce()
  for (let webhookId = 1; webhookId <= 20; webhookId++) await add(webhookId)
  await until('all hints', () => heard.length >= 20)
  expect(heard.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
})

test('hints for one webhook that wait for a dispatcher are one', async () => {
  const heard: number[] = []
  const { add } = produce()
  for (let count = 0; count < 10; count++) await add(7)
  await add(8)
  consume(heard)
  await until('the last hint', () => heard.includes(8))
  expect(heard).toEqual([7, 8])
})

test('without Redis a hint is lost, and hints arrive again once it is back', async () => {
  const heard: number[] = []
  const link = await startTcpProxy(redisUrl)
  closers.push(() => link.close())
  const { add } = produce(link.url)
  consume(heard, link.url)
  await add(1)
  await until('a hint', () => heard.includes(1))
  link.cut()
  await add(2)
  link.heal()
  await until('a later hint', async () => {
    await add(3)
    return heard.includes(3)
  })
  expect(heard).not.toContain(2)
})
