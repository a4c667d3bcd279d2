import { randomUUID } from 'node:crypto'
import { type Client, makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, randomPhone, startGateway } from './gateway.ts'
import { playWorker } from './player.ts'

/**
 * The ten operations that existing clients rely on. Nothing here is read from the product, so that
 * a changed name, method or parameter is detected.
 */
let gateway: Gateway
let player: Awaited<ReturnType<typeof playWorker>>
let shared: Awaited<ReturnType<typeof createSender>>
beforeAll(async () => {
  gateway = await startGateway()
  player = await playWorker(gateway)
  shared = await createSender(gateway, ofAdmin)
})
afterAll(async () => {
  await player.close()
  await gateway.close()
})

const ofAdmin = { role: 'ADMIN', devices_allowed: 1000 }

type Own = { sender: string; device_id: number }
type Specified = {
  path: string
  methods: ('GET' | 'POST')[]
  parameters(own: Own): Record<string, string | number>
  /** Fields that the response must contain. */
  answer: Record<string, unknown>
}

const both: Specified['methods'] = ['GET', 'POST']
const text = expect.any(String)
const count = expect.any(Number)

const operations: Specified[] = [
  {
    path: 'send-message',
    methods: both,
    parameters: ({ sender }) => ({ sender, number: '4915199999999', message: 'Hello' }),
    answer: { message_id: text, status: 'queued' },
  },
  {
    path: 'send-media',
    methods: both,
    parameters: ({ sender }) => ({
      sender,
      number: '4915199999999',
      type: 'image',
      url: 'https://example.com/x.png',
      caption: 'A picture',
    }),
    answer: { message_id: text, status: 'queued', type: 'image' },
  },
  {
    path: 'generate-qr',
    methods: both,
    parameters: () => ({ sender: randomPhone(), name: 'Shop' }),
    answer: { qr: expect.stringMatching(/^iVBORw0KGgo/), name: 'Shop', status: 'scanning' },
  },
  {
    path: 'logout-device',
    methods: both,
    parameters: ({ device_id }) => ({ device_id }),
    answer: { status: 'disconnected' },
  },
  {
    path: 'create-user',
    methods: both,
    parameters: () => ({
      email: `${randomUUID()}@example.com`,
      password: 'correct horse',
      role: 'USER',
      devices_allowed: 3,
    }),
    answer: { user_id: count, api_key: text },
  },
  {
    path: 'user-info',
    methods: both,
    parameters: () => ({}),
    answer: {
      id: count,
      email: text,
      level: 'ADMIN',
      devices_used: count,
      devices_allowed: count,
      expiry: null,
    },
  },
  {
    path: 'info-device',
    methods: both,
    parameters: ({ sender }) => ({ sender }),
    answer: { device_id: count, sender: text, status: 'connected' },
  },
  {
    path: 'info-device',
    methods: both,
    parameters: ({ device_id }) => ({ device_id }),
    answer: { device_id: count, sender: text, status: 'connected' },
  },
  {
    path: 'create-device',
    methods: both,
    parameters: () => ({ sender: randomPhone(), name: 'Shop', cms_id: 'shop-1', cms_ver: '2.0' }),
    answer: { device_id: count, name: 'Shop', cms_id: 'shop-1', cms_ver: '2.0', status: 'disconnected' },
  },
  { path: 'devices', methods: ['GET'], parameters: () => ({}), answer: { devices: expect.any(Array) } },
  { path: 'messages', methods: ['GET'], parameters: () => ({}), answer: { messages: expect.any(Array) } },
]

const credentials = ['x-api-key header', 'api_key in the query', 'api_key in the body'] as const

describe.each(operations)('$path', ({ path, methods, parameters, answer }) => {
  const ways = methods.flatMap((method) =>
    ['', '/api'].flatMap((prefix) =>
      ['', '/'].flatMap((ending) =>
        credentials
          .filter((credential) => method === 'POST' || credential !== 'api_key in the body')
          .map((credential) => ({ method, url: `${prefix}/${path}${ending}`, credential })),
      ),
    ),
  )

  test.each(ways)('works by $method $url with the $credential', async ({ method, url, credential }) => {
    // The others leave their sender as it was.
    const isEnding = path === 'logout-device'
    const { account, sender, deviceId } = isEnding ? await createSender(gateway, ofAdmin) : shared
    const given = parameters({ sender, device_id: deviceId })
    const { body, status } = await ask(makeClient(gateway.url), {
      method,
      url,
      credential,
      given,
      key: account.apiKey,
    })
    expect({ status, body }).toMatchObject({ status: 200, body: { ok: true, ...answer } })
    expect(body).not.toHaveProperty('warnings')
  })
})

type Asked = {
  method: string
  url: string
  credential: (typeof credentials)[number]
  given: Record<string, string | number>
  key: string
}

function ask(client: Client, { method, url, credential, given, key }: Asked) {
  const inQuery = {
    ...(method === 'GET' && given),
    ...(credential === 'api_key in the query' && { api_key: key }),
  }
  const texts = Object.entries(inQuery).map(([name, value]): [string, string] => [name, String(value)])
  const search = new URLSearchParams(texts).toString()
  const headers: Record<string, string> = credential === 'x-api-key header' ? { 'x-api-key': key } : {}
  if (method === 'GET') return client.request(`${url}?${search}`, { headers })
  const body = { ...given, ...(credential === 'api_key in the body' && { api_key: key }) }
  return client.post(`${url}?${search}`, body, headers)
}
