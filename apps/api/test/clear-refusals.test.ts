import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, startReplica } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const errorOf = async (answer: Promise<{ body: Record<string, unknown> }>) => (await answer).body.error

describe('an unknown path names the nearest operation and the documentation', () => {
  test.each([
    ['/send-mesage', 'No such path: did you mean /send-message? All operations are at /docs.'],
    ['/api/sendMessage', 'No such path: did you mean /send-message? All operations are at /docs.'],
    ['/device', 'No such path: did you mean /devices? All operations are at /docs.'],
    ['/v1/chat/completions', 'No such path. All operations are at /docs.'],
    [`/wag_${'0'.repeat(49)}`, 'No such path. All operations are at /docs.'],
  ])('%s', async (path, error) => {
    expect(await gateway.anonymous.get(path)).toMatchObject({
      status: 404,
      body: { code: 'not_found', error },
    })
  })
})

describe('a sender or device that is not there is named', () => {
  const unknown = '15552084404'

  test('in a send', async () => {
    const { account } = await createSender(gateway)
    const given = { sender: unknown, number: '15552084405', message: 'x' }
    const expected = `The account has no sender ${unknown}. Check the number with devices, or add it with create-device.`
    expect(await errorOf(account.post('/send-message', given))).toBe(expected)
    expect(await errorOf(account.post('/check-number', given))).toBe(expected)
    expect(await errorOf(account.post('/mark-read', { sender: unknown, number: '15552084405' }))).toBe(
      expected,
    )
    expect(await errorOf(account.get('/info-device', { sender: unknown }))).toBe(expected)
  })

  test('by its ID', async () => {
    const { account, deviceId } = await createSender(gateway)
    const other = await createSender(gateway)
    for (const device_id of [2 ** 31 - 1, other.deviceId]) {
      expect(await errorOf(account.get('/info-device', { device_id: String(device_id) }))).toBe(
        'The account has no device with this ID. devices shows the IDs.',
      )
    }
    expect(await errorOf(account.get('/info-device', { device_id: String(deviceId), id: '1' }))).toBe(
      'device_id and id name different devices.',
    )
  })

  test('unless both are there, and differ', async () => {
    const { account, sender, deviceId } = await createSender(gateway)
    const { body } = await account.post('/create-device', { sender: '15552084406' })
    const given = { sender, device_id: String(body.device_id) }
    expect(await errorOf(account.get('/info-device', given))).toBe(
      'sender and device_id name different devices.',
    )
    expect(await account.get('/info-device', { sender, device_id: String(deviceId) })).toMatchObject({
      status: 200,
    })
    // Those of another account are not there.
    const other = await createSender(gateway)
    expect(
      await errorOf(account.get('/info-device', { sender: other.sender, device_id: String(deviceId) })),
    ).toContain(`no sender ${other.sender}`)
  })
})

describe('a request without a key', () => {
  const sentence =
    'An API key is required, in the header x-api-key, as Authorization: Bearer, or as the parameter api_key.'
  test.each([
    [undefined, sentence],
    ['Basic dXNlcjpwYXNz', `${sentence} Authorization: Basic is not supported.`],
    ['token abc', `${sentence} Authorization: token is not supported.`],
    // It may be a key.
    ['secret', sentence],
  ])('with Authorization: %s', async (authorization, error) => {
    const headers: Record<string, string> = authorization ? { authorization } : {}
    const answer = await gateway.anonymous.request('/devices', { headers })
    expect(answer).toMatchObject({ status: 401, body: { code: 'missing_api_key', error } })
  })
})

test('an account that has expired is told since when, and who can extend it', async () => {
  const expiry = '2020-01-31T12:00:00.000Z'
  const account = await gateway.createAccount({ expiry })
  expect(await errorOf(account.post('/create-device', { sender: '15552084407' }))).toBe(
    `The account has expired on ${expiry} and is read-only. An ADMIN of the gateway can extend it with update-user.`,
  )
})

test.each([' ', '\n\t ', '\u00a0\u2003\ufeff'])(
  'a message of white space alone is refused: %j',
  async (message) => {
    const { account, sender } = await createSender(gateway)
    expect(await account.post('/send-message', { sender, number: '15552084405', message })).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', error: 'message must not consist of white space alone' },
    })
  },
)

test('a refusal by a limit says which one, and for what', async () => {
  const replica = await startReplica(gateway, {
    LIMIT_REQUESTS_PER_SECOND: '2',
    LIMIT_REQUESTS_BURST: '4',
    LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '1',
  })
  const account = await gateway.createAccount()
  const client = makeClient(replica.url, account.apiKey)
  const ask = async (path: string) => (await client.get(path)).body
  await ask('/create-link?sender=15552084408')
  expect(await ask('/create-link?sender=15552084408')).toMatchObject({
    limit: 'create-link',
    error:
      'Too many requests: at most 1 one-time links a minute for one account. Wait for the seconds in Retry-After.',
  })
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask('/user-info')))
  expect(answers.find(({ limit }) => limit === 'default')?.error).toBe(
    'Too many requests: at most 2 requests a second for one API key. Wait for the seconds in Retry-After.',
  )
  await replica.close()
})
