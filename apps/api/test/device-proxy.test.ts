import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { recordMasterKey } from '@wagate/db/queries/credentials/master-keys'
import { findDeviceStates } from '@wagate/db/queries/devices/device-owner-view'
import { proxyContext } from '@wagate/shared/proxy-url'
import { makeBoxKey } from '@wagate/shared/sealed-box'
import { type Client, makeClient } from '@wagate/test-kit/http-client'
import { startTcpProxy } from '@wagate/test-kit/tcp-proxy'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Gateway, randomPhone, recordCommands, startGateway, startReplica } from './gateway.ts'
import { waitForPairing } from './play-pairing.ts'

const key = makeBoxKey(randomBytes(32))
const url = 'http://shop:s%3Acret@proxy.example.com:8080'

let gateway: Gateway
let account: Client & { apiKey: string }
let sender: string
let deviceId: number
beforeAll(async () => {
  gateway = await startGateway()
})
beforeEach(async () => {
  account = await gateway.createAccount()
  sender = randomPhone()
  deviceId = Number((await account.post('/create-device', { sender })).body.device_id)
})
afterAll(() => gateway.close())

const set = (proxy: unknown, as = account) => as.post('/set-device', { device_id: deviceId, proxy })
async function stored() {
  const [state] = await findDeviceStates(gateway.db, [deviceId])
  return state?.sealedProxy ?? null
}

test('cannot be stored before a worker has said for which key', async () => {
  expect(await set(url)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(await stored()).toBeNull()
  await recordMasterKey(gateway.db, '0badcafe', key.publicKey)
})

test('is stored so that only workers can read it, and shown without user name and password', async () => {
  const commands = await recordCommands(gateway, deviceId)
  const answer = await set(url)
  expect(answer).toMatchObject({ status: 200, body: { proxy: 'http://proxy.example.com:8080' } })
  const sealed = (await stored()) ?? Buffer.alloc(0)
  expect(key.open(sealed, proxyContext(deviceId)).toString()).toBe(url)
  for (const operation of ['/info-device', '/devices']) {
    const text = JSON.stringify((await account.get(operation, { sender })).body)
    expect(text).toContain('"proxy":"http://proxy.example.com:8080"')
    expect(text).not.toMatch(/shop:|cret/)
  }
  await expect.poll(() => commands.seen).toEqual(['apply-settings'])
  await commands.close()
})

test('is removed with none, and stays when something else is set', async () => {
  await set(url)
  await account.post('/set-device', { device_id: deviceId, name: 'Shop' })
  expect(await stored()).not.toBeNull()
  expect((await set('none')).body).toMatchObject({ proxy: null, name: 'Shop' })
  expect(await stored()).toBeNull()
})

test.each([
  'proxy.example.com:8080',
  'https://proxy.example.com:8080',
  'http://proxy.example.com',
  `http://${'x'.repeat(3000)}:1`,
  ['http://proxy.example.com:8080'],
  8080,
])('is refused as %j', async (proxy) => {
  expect(await set(proxy)).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter', details: [{ parameter: 'proxy' }] },
  })
})

test.each([
  'http://127.0.0.1:8080',
  'socks5://10.1.2.3:1080',
  'http://localhost:1',
  'http://[::1]:80',
  'http://0x7f.1:9',
])('is refused at a private address: %s', async (proxy) => {
  const { status, body } = await set(proxy.replace('//', '//shop:s%3Acret@'))
  expect([status, body.details]).toEqual([
    400,
    [{ parameter: 'proxy', message: 'must have a public address' }],
  ])
  expect(JSON.stringify(body)).not.toContain('cret')
  expect(await stored()).toBeNull()
})

test('of another account can be neither seen nor changed', async () => {
  await set(url)
  const before = await stored()
  const stranger = await gateway.createAccount()
  for (const proxy of ['none', 'http://other.example.com:1']) {
    expect(await set(proxy, stranger)).toMatchObject({ status: 404, body: { code: 'device_not_found' } })
  }
  expect(await stored()).toEqual(before)
})

const proxyFailed = {
  status: 409,
  body: { code: 'proxy_failed', error: expect.stringContaining('(407)') },
}

test('that gives no connection ends the wait for a code', async () => {
  const answering = account.post('/generate-qr', { sender })
  await waitForPairing(gateway, sender)
  await gateway.events.publish(deviceId, { kind: 'proxy-failed', detail: '407' })
  expect(await answering).toMatchObject(proxyFailed)
})

test('that gives no connection ends the wait also while a code is being looked up', async () => {
  const heard = new EventEmitter()
  const redis = await startTcpProxy(gateway.redisUrl, {
    hold(chunk, { isAnswer }) {
      if (isAnswer && chunk.includes('proxy-failed')) heard.emit('event')
      if (isAnswer || !chunk.includes(`${deviceId}:qr`)) return undefined
      void gateway.events.publish(deviceId, { kind: 'proxy-failed', detail: '407' })
      return once(heard, 'event')
    },
  })
  onTestFinished(redis.close)
  const replica = await startReplica({ ...gateway, redisUrl: redis.url })
  onTestFinished(replica.close)
  const client = makeClient(replica.url, account.apiKey)
  expect(await client.post('/generate-qr', { sender })).toMatchObject(proxyFailed)
})
