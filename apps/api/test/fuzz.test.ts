import { randomUUID } from 'node:crypto'
import { insertAccount } from '@wagate/db/queries/accounts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeNewKey } from '../src/credentials/new-key.ts'
import { document, violations } from './contract.ts'
import { type Gateway, linkDevice, randomPhone, startGateway, startReplica } from './gateway.ts'
import { formOf, type GeneratedRequest, requests } from './generated-requests.ts'
import { playWorker } from './player.ts'

/** FUZZ_SEED=$(date +%s) FUZZ_REQUESTS=1000000 looks longer and elsewhere. */
const seed = Number(process.env.FUZZ_SEED ?? 20_260_131)
const requestsTotal = Number(process.env.FUZZ_REQUESTS ?? 20_000)
const accountsAtATime = 8
const requestsOfAccount = 100

let gateway: Gateway
let api: Awaited<ReturnType<typeof startReplica>>
let player: Awaited<ReturnType<typeof playWorker>>
beforeAll(async () => {
  gateway = await startGateway()
  api = await startReplica(gateway)
  player = await playWorker(gateway)
})
afterAll(async () => {
  await player.close()
  await api.close()
  await gateway.close()
})

/** `GET /user-info 200` → how often. */
const answered = new Map<string, number>()

test(
  `${requestsTotal} requests out of the document are answered as it says, whatever they carry`,
  async () => {
    const ofAccount = fc.array(requests, { minLength: requestsOfAccount, maxLength: requestsOfAccount })
    const batch = fc.array(ofAccount, { minLength: accountsAtATime, maxLength: accountsAtATime })
    const property = fc.asyncProperty(batch, async (accounts) => {
      await Promise.all(accounts.map(askInTurn))
    })
    const numRuns = Math.ceil(requestsTotal / (accountsAtATime * requestsOfAccount))
    // Not fc.assert, which would print all the requests of the batch instead of the one.
    const { failed, errorInstance } = await fc.check(property, { seed, numRuns, endOnFailure: true })
    if (failed)
      throw new Error(`With FUZZ_SEED=${seed}: ${(errorInstance as Error).message}`, { cause: errorInstance })
  },
  Math.max(120_000, requestsTotal * 10),
)

test('and among them every operation was done, by every method', () => {
  const ways = Object.entries(document.paths).flatMap(([path, { get, post }]) => [
    ...(get ? [`GET ${path} 200`] : []),
    ...(post ? [`POST ${path} 200`] : []),
  ])
  if (process.env.FUZZ_SHOW) process.stdout.write([...answered].sort().join('\n'))
  // What is missing needs a value of its own: see createAccounts and ownParameters.
  expect(ways.filter((way) => !answered.has(way))).toEqual([])
})

async function askInTurn(given: GeneratedRequest[]): Promise<void> {
  const values = await createAccounts()
  for (const request of given) await ask(fillIn(request, values), values)
}

/** Without a socket, which is faster. */
async function fetchInProcess(request: Request): Promise<Response> {
  return api.fetch(request, { incoming: { socket: { remoteAddress: '127.0.0.1' } } })
}

async function ask(request: GeneratedRequest, values: Record<string, string>): Promise<void> {
  const query = formOf(request.query)
  const url = `http://localhost${request.path}${query && `?${query}`}`
  const { method, headers, body } = request
  const response = await fetchInProcess(
    new Request(url, { method, headers, ...(body !== undefined && { body }) }),
  )
  const text = await response.text()
  const { status } = response
  const kind = `${method} ${request.path.replace(/^\/api\//, '/').replace(/\/$/, '')} ${status}`
  answered.set(kind, (answered.get(kind) ?? 0) + 1)
  const found = violations(method, new URL(url).pathname, { status, headers: response.headers, text })
  if (status >= 500) found.push(`${status}: ${text}`)
  if (response.headers.has('x-injected')) found.push('a header was injected')
  for (const name of ['key', 'admin_key', 'expired_key', 'password']) {
    if (text.includes(values[name] ?? '')) found.push(`the answer repeats the ${name}: ${text.slice(0, 300)}`)
  }
  const asked = JSON.stringify({ method, url, headers, body }).slice(0, 2000)
  if (found.length > 0) throw new Error(`${found.join('\n')}\n${asked}`)
}

/** Fresh ones for every list of requests: among these are some that log out, delete and revoke. */
async function createAccounts(): Promise<Record<string, string>> {
  const [own, admin, expired] = await Promise.all([
    createAccount('USER', null),
    createAccount('ADMIN', null),
    createAccount('USER', new Date(0)),
  ])
  const sender = randomPhone()
  const device = await post(own.key, '/create-device', { sender })
  await linkDevice(gateway, Number(device.device_id))
  const message = await post(own.key, '/send-message', { sender, number: randomPhone(), message: 'x' })
  return {
    key: own.key,
    admin_key: admin.key,
    expired_key: expired.key,
    password: `password ${randomUUID()}`,
    email: `${randomUUID()}@example.com`,
    sender,
    number: randomPhone(),
    device_id: String(device.device_id),
    id: String(device.device_id),
    message_id: String(message.message_id),
    before: String(message.message_id),
    idempotency_key: randomUUID(),
    user_id: String(own.id),
    key_id: '1',
  }
}

async function createAccount(role: 'USER' | 'ADMIN', expiresAt: Date | null) {
  const { apiKey, key } = makeNewKey()
  const email = `${randomUUID()}@example.com`
  const account = await insertAccount(gateway.db, {
    email,
    passwordHash: '',
    role,
    devicesAllowed: 3,
    expiresAt,
    key,
  })
  return { id: account?.id, key: apiKey }
}

async function post(key: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const request = new Request(`http://localhost${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return (await fetchInProcess(request)).json() as Promise<Record<string, unknown>>
}

function fillIn(request: GeneratedRequest, values: Record<string, string>): GeneratedRequest {
  const fill = (value: unknown) =>
    typeof value === 'string'
      ? value.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '1')
      : value
  return {
    ...request,
    query: request.query.map(([name, value]) => [name, fill(value)]),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(fill(value))]),
    ),
    body: request.body === undefined ? undefined : String(fill(request.body)),
  }
}
