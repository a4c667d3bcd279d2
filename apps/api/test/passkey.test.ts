import { makeDeviceEvents } from '@wagate/queue/device-events'
import { openRedisLinks } from '@wagate/queue/redis-links'
import type { PasskeyStep } from '@wagate/shared/statuses'
import { type Client, makeClient } from '@wagate/test-kit/http-client'
import { startOwnRedis } from '@wagate/test-kit/servers/own-redis'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { passkeyAssertion } from '../src/operations/passkey-assertion.ts'
import {
  type Gateway,
  ownShards,
  randomPhone,
  recordCommands,
  startGateway,
  startReplica,
} from './gateway.ts'
import { showPasskey } from './play-pairing.ts'

const assertion = passkeyAssertion.example.given.assertion as Record<string, unknown>
const options = { challenge: 'mPz0', rpId: 'whatsapp.com' }

let gateway: Gateway
let account: Client & { apiKey: string }
let sender: string
let deviceId: number
let commands: Awaited<ReturnType<typeof recordCommands>>
/** What the owner does after a command. */
let react: (() => Promise<unknown>) | undefined
beforeAll(async () => {
  gateway = await startGateway()
  await ownShards(gateway)
})
beforeEach(async () => {
  account = await gateway.createAccount()
  sender = randomPhone()
  deviceId = Number((await account.post('/create-device', { sender })).body.device_id)
  react = undefined
  commands = await recordCommands(gateway, deviceId, () => void react?.())
})
afterEach(() => commands.close())
afterAll(() => gateway.close())

const show = (step: PasskeyStep, epochAhead = 0) => {
  const content = step === 'passkey_required' ? { options } : { code: 'K7QX2M9F' }
  return showPasskey(gateway, deviceId, { step, epochAhead, ...content })
}
const refuse = (error: string) => gateway.events.publish(deviceId, { kind: 'passkey-refused', error })
const noPasskeyPending = { status: 409, body: { code: 'no_passkey_pending' } }

const operations = ['passkey-challenge', 'passkey-assertion', 'passkey-confirm']

test('nothing is pending before WhatsApp asks', async () => {
  for (const operation of operations) {
    expect(await account.post(`/${operation}`, { sender, assertion }), operation).toMatchObject(
      noPasskeyPending,
    )
  }
})

test('what WhatsApp asked a former owner is over', async () => {
  for (const operation of operations) {
    await show(operation === 'passkey-confirm' ? 'passkey_confirmation_required' : 'passkey_required', -1)
    expect(await account.post(`/${operation}`, { sender, assertion }), operation).toMatchObject(
      noPasskeyPending,
    )
  }
  expect(commands.seen).toEqual([])
})

test('the challenge is shown while it can be used', async () => {
  await show('passkey_required')
  const { body } = await account.get('/passkey-challenge', { sender })
  expect(body).toMatchObject({ status: 'passkey_required', challenge: options, code: null })
  expect(body.expires_in).toBeGreaterThan(15)
  expect(await account.post('/passkey-confirm', { sender })).toMatchObject(noPasskeyPending)
})

test('an assertion reaches the owner once, and no job', async () => {
  await show('passkey_required')
  react = () => show('passkey_confirmation_required')
  expect(await account.post('/passkey-assertion', { sender, assertion })).toMatchObject({
    status: 200,
    body: { status: 'passkey_confirmation_required', code: 'K7QX2M9F' },
  })
  // A busy owner is told again.
  expect(new Set(commands.seen)).toEqual(new Set(['submit-passkey']))
  expect(JSON.parse(String(await gateway.events.takeAssertion(deviceId)))).toEqual(assertion)
  expect(await gateway.events.takeAssertion(deviceId)).toBeNull()
  expect(await account.post('/passkey-assertion', { sender, assertion })).toMatchObject(noPasskeyPending)
})

test('the code is shown once it can be confirmed', async () => {
  await show('passkey_required')
  const passkey = await gateway.events.findPasskey(deviceId)
  if (!passkey) throw new Error('Redis does not hold the challenge')
  await gateway.events.retain(deviceId, { ...passkey, code: 'K7QX2M9F' })
  expect((await account.get('/passkey-challenge', { sender })).body).toMatchObject({
    status: 'passkey_required',
    challenge: options,
    code: null,
  })
})

test.each([
  ['passkey-assertion', 'passkey_required'],
  ['passkey-confirm', 'passkey_confirmation_required'],
] as const)('%s returns what WhatsApp refused it with', async (operation, step) => {
  await show(step)
  react = () => refuse('403')
  expect(await account.post(`/${operation}`, { sender, assertion })).toMatchObject({
    status: 409,
    body: { code: 'passkey_refused', error: expect.stringContaining('403') },
  })
})

test('an assertion that Redis does not store can be given again', async () => {
  const redis = await startOwnRedis()
  const links = openRedisLinks(redis.url, { onError: () => undefined })
  const own = { ...gateway, redisUrl: redis.url, events: makeDeviceEvents(links) }
  await links.connected
  await showPasskey(own, deviceId, { step: 'passkey_required', epochAhead: 0, options })
  await redis.set('maxmemory', '1')
  const replica = await startReplica(own)
  const client = makeClient(replica.url, account.apiKey)
  expect(await client.post('/passkey-assertion', { sender, assertion })).toMatchObject({
    status: 503,
    body: { code: 'unavailable' },
  })
  await redis.set('maxmemory', '0')
  const confirming = { step: 'passkey_confirmation_required', epochAhead: 0, code: 'K7QX2M9F' } as const
  const owner = await recordCommands(own, deviceId, () => void showPasskey(own, deviceId, confirming))
  expect(await client.post('/passkey-assertion', { sender, assertion })).toMatchObject({ status: 200 })
  await owner.close()
  await replica.close()
  await links.close()
  await redis.close()
})

test('an assertion of more than 16,384 characters is refused', async () => {
  await show('passkey_required')
  for (const large of [{ ...assertion, extra: 'x'.repeat(17_000) }, 'x'.repeat(17_000)]) {
    expect(await account.post('/passkey-assertion', { sender, assertion: large })).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter: 'assertion' }] },
    })
  }
})

test.each(['passkey_required', 'passkey_confirmation_required'] as const)(
  'there is no code to scan or to type while the step is %s',
  async (step) => {
    await show(step)
    for (const operation of ['generate-qr', 'pair-code']) {
      expect(await account.post(`/${operation}`, { sender })).toMatchObject({
        status: 409,
        body: { code: step },
      })
    }
    expect((await account.get('/info-device', { sender })).body.status).toBe(step)
  },
)

test('the session of a link follows the step of its sender', async () => {
  const { body } = await account.post('/create-link', { sender })
  const link = makeClient(gateway.url, new URL(String(body.url)).hash.slice(1))
  const session = makeClient(gateway.url, String((await link.post('/open-link')).body.session))
  await show('passkey_required')
  expect((await session.get('/passkey-challenge')).body).toMatchObject({ challenge: options })
  react = () => show('passkey_confirmation_required')
  expect((await session.post('/passkey-assertion', { assertion })).body).toMatchObject({ code: 'K7QX2M9F' })
})
