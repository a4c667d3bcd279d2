import { askRedis } from '@wagate/local-servers/ask-redis'
import type { DeviceEvent, QrEvent } from '@wagate/shared/device-events'
import { timeAwake } from '@wagate/test-kit/awake-time'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { eventually } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type DeviceEvents, makeDeviceEvents } from '../src/device-events.ts'
import { openRedisLinks } from '../src/redis-links.ts'

const closers: (() => Promise<unknown>)[] = []
const online: DeviceEvent = { kind: 'status', connected: true, reason: null }
// Channels span all databases of Redis, and other test files may use the same server.
let nextDeviceId = 1_500_000_000 + Math.floor(Math.random() * 500_000_000)
let redisUrl: string

beforeAll(async () => {
  redisUrl = await testRedisUrl()
})
afterAll(() => Promise.all(closers.map((close) => close())))

test('notifies all listeners of the device in all processes, and no others', async () => {
  const deviceId = nextDeviceId++
  const [here, there] = [open(), open()]
  const heard: string[] = []
  await here.subscribe(deviceId, () => heard.push('first'))
  await here.subscribe(deviceId, () => heard.push('second'))
  await there.subscribe(deviceId, (event) => heard.push(event.kind))
  await there.subscribe(nextDeviceId++, () => heard.push('stranger'))
  await there.publish(deviceId, online)
  await vi.waitFor(() => expect(heard.sort()).toEqual(['first', 'second', 'status']), eventually)
})

test('a message that is not JSON is reported, and the next one is delivered', async () => {
  const deviceId = nextDeviceId++
  const errors: Error[] = []
  const events = open(redisUrl, errors)
  const heard: string[] = []
  await events.subscribe(deviceId, (event) => heard.push(event.kind))
  for (const text of ['{', '', 'null', '{"kind":"unknown"}']) {
    await askRedis(new URL(redisUrl), [['PUBLISH', `wa:device:${deviceId}`, text]])
  }
  await events.publish(deviceId, online)
  await vi.waitFor(() => expect(heard).toEqual(['status']), eventually)
  expect(errors.length).toBe(2)
})

test('a listener that unsubscribed gets no more events, and others of its channel do', async () => {
  const deviceId = nextDeviceId++
  const events = open()
  const heard: string[] = []
  const leave = await events.subscribe(deviceId, () => heard.push('left'))
  await events.subscribe(deviceId, () => heard.push('stays'))
  await leave()
  await leave()
  await events.publish(deviceId, online)
  await vi.waitFor(() => expect(heard).toEqual(['stays']), eventually)
})

test('stores a QR code until it expires or is cleared', async () => {
  const deviceId = nextDeviceId++
  const events = open()
  expect(await events.findQr(deviceId)).toBeUndefined()
  await events.retain(deviceId, qr({ text: 'first', lifeMs: 60_000 }))
  expect(await events.findQr(deviceId)).toMatchObject({ text: 'first', epoch: 3 })
  await events.clearQr(deviceId)
  expect(await events.findQr(deviceId)).toBeUndefined()
  await events.retain(deviceId, qr({ text: 'short', lifeMs: 80 }))
  await vi.waitFor(async () => expect(await events.findQr(deviceId)).toBeUndefined(), eventually)
  await events.retain(deviceId, qr({ text: 'past', lifeMs: -1 }))
  expect(await events.findQr(deviceId)).toBeUndefined()
})

test('notifies workers that shards changed', async () => {
  const [one, other] = [open(), open()]
  let heard = 0
  one.onShardsChanged(() => heard++)
  await vi.waitFor(async () => {
    await other.publishShardsChanged()
    expect(heard).toBeGreaterThan(0)
  }, eventually)
})

test('without Redis, publishing has no effect, and subscribing and reading reject at once', async () => {
  const proxy = await startProxy()
  const errors: Error[] = []
  const events = open(proxy.url, errors)
  expect(await events.checkRedis()).toBe('ok')
  proxy.cut()
  await vi.waitFor(async () => expect(await events.checkRedis()).toBe('does not answer'), eventually)
  await events.publish(nextDeviceId++, online)
  await events.retain(nextDeviceId++, qr({ text: 'x', lifeMs: 1000 }))
  expect(errors.length).toBeGreaterThan(0)
  const { awakeMs } = await timeAwake(async () => {
    await expect(events.subscribe(nextDeviceId++, () => undefined)).rejects.toThrow()
    await expect(events.findQr(nextDeviceId++)).rejects.toThrow()
  })
  expect(awakeMs).toBeLessThan(100)
})

test('detects within 2.5 seconds that Redis does not answer', async () => {
  const proxy = await startProxy()
  const events = open(proxy.url)
  expect(await events.checkRedis()).toBe('ok')
  proxy.freeze()
  const { result, awakeMs } = await timeAwake(() => events.checkRedis())
  expect(result).toBe('does not answer')
  expect(awakeMs).toBeLessThan(2500)
})

test.each(['cut', 'freeze'] as const)(
  'listeners get events again after: %s',
  async (mode) => {
    const proxy = await startProxy()
    const deviceId = nextDeviceId++
    const [listening, telling] = [open(proxy.url), open()]
    const heard: string[] = []
    await listening.subscribe(deviceId, (event) => heard.push(event.kind))
    listening.onShardsChanged(() => heard.push('shards'))
    proxy[mode]()
    await vi.waitFor(async () => expect(await listening.checkRedis()).toBe('does not answer'), {
      timeout: 10_000,
    })
    // Data sent into a frozen network may be lost: only new connections work.
    proxy.cut()
    proxy.heal()
    await vi.waitFor(
      async () => {
        await telling.publish(deviceId, online)
        await telling.publishShardsChanged()
        expect(heard).toContain('status')
        expect(heard).toContain('shards')
      },
      { timeout: 20_000 },
    )
  },
  40_000,
)

test('reports a Redis that refuses to subscribe a listener again', async () => {
  const redis = await startOwnRedis()
  closers.push(() => redis.close())
  const errors: Error[] = []
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  try {
    const events = open(redis.url, errors)
    await events.subscribe(nextDeviceId++, () => undefined)
    await askRedis(new URL(redis.url), [
      ['ACL', 'SETUSER', 'default', '-subscribe'],
      ['CLIENT', 'KILL', 'TYPE', 'pubsub'],
    ])
    await vi.waitFor(() => expect(errors.join()).toContain('NOPERM'), { timeout: 5000 })
  } finally {
    process.off('unhandledRejection', note)
  }
  expect(unhandled).toEqual([])
})

function open(url = redisUrl, errors: Error[] = []): DeviceEvents {
  const links = openRedisLinks(url, { onError: (error) => errors.push(error) })
  closers.push(links.close)
  return makeDeviceEvents(links)
}

async function startProxy(): Promise<TcpProxy> {
  const proxy = await startTcpProxy(redisUrl)
  closers.push(() => proxy.close())
  return proxy
}

function qr({ text, lifeMs }: { text: string; lifeMs: number }): QrEvent {
  return { kind: 'qr', epoch: 3, text, expiresAtMs: Date.now() + lifeMs }
}
