import { once } from 'node:events'
import { connect } from 'node:net'
import { createTestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { bootstrapAdmin } from '../src/credentials/bootstrap-admin.ts'
import { listening, spawnApi } from './api-process.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let api: ReturnType<typeof spawnApi>
let url: string
let apiKey: string
beforeAll(async () => {
  database = await createTestDatabase()
  apiKey = String((await bootstrapAdmin(database.url, 'admin@example.com'))?.apiKey)
  api = spawnApi({ DATABASE_URL: database.url, REDIS_URL: await testRedisUrl(), LOG_LEVEL: 'debug' })
  url = await listening(api.output)
})
afterAll(async () => {
  api.child.kill()
  await once(api.child, 'exit')
  await database.drop()
})

type Line = { level: number; msg: string; path?: string; status?: number; metricsPort?: number }
const lines = () =>
  api.output
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)

/** Sends the beginning of a body, and closes the connection. */
async function breakOff(path: string, { headers, body }: { headers: string[]; body: string }) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => setTimeout(() => socket.destroy(), 100))
  await once(socket, 'close')
}

test.each([
  ['without a key', '/user-info', ['Content-Length: 100'], '{', false],
  ['with a key', '/send-message', ['Content-Length: 100'], '{', true],
  [
    'of a form',
    '/send-message',
    ['Content-Length: 100', 'Content-Type: application/x-www-form-urlencoded'],
    'a=1',
    true,
  ],
  ['that is large', '/send-media', ['Content-Length: 20000000'], '{"url":"data:', true],
  ['in chunks', '/send-media', ['Transfer-Encoding: chunked'], '5\r\n{"a":\r\n', true],
])(
  'a body %s that its client breaks off is no failure of the gateway',
  async (title, path, headers, body, hasKey) => {
    const before = lines().length
    await breakOff(path, { headers: [...headers, ...(hasKey ? [`X-Api-Key: ${apiKey}`] : [])], body })
    const find = () => lines().slice(before)
    await vi.waitFor(
      () =>
        expect(
          find().map(({ msg }) => msg),
          title,
        ).toContain('Request completed'),
      {
        timeout: 10_000,
      },
    )
    expect(find().find(({ msg }) => msg === 'Request completed')).toMatchObject({ level: 20, status: 499 })
    expect(find().filter(({ level }) => level > 30)).toEqual([])
    const { metricsPort } = lines().find(({ msg }) => msg === 'API listening') ?? {}
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    expect(metrics).toMatch(
      new RegExp(`wagate_requests_total{operation="${path.slice(1)}",status="499"} [1-9]`),
    )
    expect(metrics).not.toMatch(/wagate_requests_total{.*status="5/)
  },
)
