import { randomBytes } from 'node:crypto'
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { connectForRequests, firstAttempt } from '@wagate/queue/redis'
import { makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { createTestDatabase, type TestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { connectTo } from '@wagate/test-kit/servers/test-run'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { until } from '@wagate/test-kit/until'
import { readMasterKeys } from '@wagate/worker/session/master-keys'
import { authContext, makeVault } from '@wagate/worker/session/vault'
import type postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findSecrets, type Place, type Secret, secretText } from './secret-search.ts'

const [sender, other, recipient] = ['15550500001', '15550500002', '15550500003']
const masterKey = randomBytes(32)
const unique = (what: string) => `${what} ${randomBytes(12).toString('hex')}`

/** What people and programs give us in confidence. Nothing of it may be anywhere but in its own column. */
const password = unique('password')
const shortPassword = randomBytes(3).toString('hex')
const text = unique('text "quoted" ünïcode')
const caption = unique('caption')
const answerText = unique('answer')
const scheduledText = unique('later')
const media = Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(3000)])
const urlSecret = randomBytes(12).toString('hex')
const wrongKey = `wag_${randomBytes(24).toString('hex')}0`

let devnet: Devnet
let gateway: ReturnType<typeof makeGatewayClient>
let database: TestDatabase
let sql: postgres.Sql
let redisUrl: string
const proxies: TcpProxy[] = []
const overRedis: string[] = []
const apiKeys: string[] = []
const qrTexts: string[] = []
const signalSecrets: Secret[] = []
/** Every answer that was no success. */
const failures: string[] = []
const successes: string[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  redisUrl = await testRedisUrl()
  sql = connectTo(database.url)
  const postgresProxy = await startTcpProxy(database.url)
  const redisProxy = await startTcpProxy(redisUrl, {
    onData: (chunk) => overRedis.push(chunk.toString('latin1')),
  })
  proxies.push(postgresProxy, redisProxy)
  devnet = await startDevnet({
    databaseUrl: postgresProxy.url,
    redisUrl: redisProxy.url,
    workers: 1,
    environment: () => ({
      LOG_LEVEL: 'trace',
      SEND_RATE_PER_MINUTE: '0',
      MASTER_KEY: masterKey.toString('base64'),
    }),
  })
  gateway = makeGatewayClient(devnet)
  apiKeys.push(devnet.adminKey.apiKey ?? '')
  await useAccounts()
  await pair(sender)
  await pair(other)
  await send()
  await noteSignalSecrets()
  await failInAllWays()
  await sendDuringOutages(postgresProxy, redisProxy)
  await request('POST', '/logout-device', { sender: other })
  await until(
    'the other sender is logged out',
    async () => (await gateway.statusOf(other)).status === 'disconnected',
  )
}, 120_000)

afterAll(async () => {
  await devnet?.close()
  await sql?.end()
  for (const proxy of proxies) await proxy.close()
  await database?.drop()
}, 30_000)

type Headers = Record<string, string>

async function request(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  headers: Headers = { 'x-api-key': apiKeys[0] ?? '', 'content-type': 'application/json' },
): Promise<Record<string, unknown>> {
  const init = {
    method,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }
  const answer = await fetch(devnet.apiUrl + path, init)
  const said = await answer.text()
  ;(answer.ok ? successes : failures).push(said)
  return JSON.parse(said)
}

async function useAccounts(): Promise<void> {
  const user = { email: 'user@example.com', password, devices_allowed: 3 }
  const created = await request('POST', '/create-user', user)
  successes.pop()
  apiKeys.push(String(created.api_key))
  const key = String(created.api_key)
  const json = { 'content-type': 'application/json' }
  // Where a key may stand, and where it may not.
  await request('GET', '/user-info', undefined, { 'x-api-key': key })
  await request('GET', '/user-info', undefined, { authorization: `Bearer ${key}` })
  await request('GET', `/user-info?api_key=${key}`, undefined, {})
  await request('POST', '/user-info', { api_key: key }, json)
  await request('POST', '/user-info', `api_key=${key}`, {
    'content-type': 'application/x-www-form-urlencoded',
  })
  await request('GET', `/user-info?api_key=${key}`, undefined, { 'x-api-key': apiKeys[0] ?? '' })
  await request('GET', `/user-info?api_key=${wrongKey}`, undefined, {})
  await request('POST', '/user-info', { api_key: wrongKey }, json)
  await request('GET', `/${key}?api_key=${key}`, undefined, { 'x-request-id': key.slice(0, 10) })
  await request('POST', '/user-info', { [key]: password }, { ...json, 'x-api-key': key })
  successes.pop()
  const another = await request('POST', '/create-key', { name: 'another', idempotency_key: 'a key' })
  successes.pop()
  apiKeys.push(String(another.api_key))
  await request('POST', '/create-key', { name: 'another', idempotency_key: 'a key' })
  await request('GET', '/keys')
  await request('GET', '/user-info', undefined, { 'x-api-key': String(another.api_key) })
  await request('POST', '/revoke-key', { key_id: another.key_id })
  await request('GET', '/user-info', undefined, { 'x-api-key': String(another.api_key) })
  // What a password may be told with.
  await request('POST', '/create-user', user)
  await request('POST', '/create-user', { ...user, password: shortPassword })
  await request('POST', '/create-user', { ...user, email: password })
  await request('POST', '/create-user', { ...user, role: password, devices_allowed: password, expiry: key })
  await request('GET', `/create-user?email=x&password=${encodeURIComponent(password)}`)
  await request('POST', '/create-user', user, { ...json, 'x-api-key': key })
}

async function pair(number: string): Promise<void> {
  const qr = await request('POST', '/generate-qr', { sender: number })
  successes.pop()
  qrTexts.push(String(qr.qr_text))
  await gateway.control('/scan', { qr: qr.qr_text, number })
  await until('the sender is connected', async () => (await gateway.statusOf(number)).status === 'connected')
}

async function send(): Promise<void> {
  const sent = await request('POST', '/send-message', { sender, number: recipient, message: text, wait: 10 })
  expect(sent).toMatchObject({ ok: true })
  const url = `data:application/pdf;base64,${media.toString('base64')}`
  const given = {
    sender,
    number: recipient,
    type: 'document',
    url,
    caption,
    wait: 10,
    idempotency_key: 'once',
  }
  expect(await request('POST', '/send-media', given)).toMatchObject({
    ok: true,
    status: expect.stringMatching(/sent|delivered/),
  })
  await request('POST', '/send-media', { ...given, caption: text })
  const sendAt = new Date(Date.now() + 3_600_000).toISOString()
  await request('POST', '/send-message', {
    sender,
    number: recipient,
    message: scheduledText,
    send_at: sendAt,
  })
  await request('GET', `/send-message?${new URLSearchParams({ sender, number: recipient, message: text })}`)
  await gateway.control(`/chats/${recipient}/send`, { to: sender, text: answerText })
  await until('the answer is in the history', async () =>
    (await gateway.history()).some(({ message }) => message === answerText),
  )
}

async function failInAllWays(): Promise<void> {
  const given = { sender, number: recipient, message: text }
  const json = JSON.stringify({ ...given, api_key: apiKeys[1], password })
  await request('POST', '/send-message', json.slice(0, -1))
  await request('POST', '/send-message', json.replace('{', '{{'))
  await request('POST', '/send-message', json, {
    'x-api-key': apiKeys[1] ?? '',
    'content-type': 'text/plain',
  })
  await request('POST', '/send-message', [given])
  await request('POST', '/send-message', { ...given, message: text.repeat(100) })
  await request('POST', '/send-message', { ...given, message: text.repeat(2000) })
  await request('POST', '/send-message', { ...given, sender: text, number: text, wait: text, send_at: text })
  await request('POST', '/send-message', { ...given, sender: '15550599999' })
  await request('POST', `/send-message?message=${encodeURIComponent(caption)}`, given)
  await request('POST', '/create-device', { sender, name: text.repeat(20) })
  const url = `data:application/pdf;base64,${media.toString('base64')}`
  for (const wrong of [
    { url: `https://user:${urlSecret}@example.com/` },
    { url: `http://127.0.0.1/?${urlSecret}` },
    { url: `${urlSecret}` },
    { url: `${url}!` },
    { url, type: 'image' },
  ]) {
    await request('POST', '/send-media', { sender, number: recipient, type: 'document', caption, ...wrong })
  }
  // Accepted, and fails on its way: there is nobody of this name.
  const lost = await request('POST', '/send-media', {
    sender,
    number: recipient,
    type: 'image',
    url: `http://${urlSecret}.invalid/${urlSecret}?token=${urlSecret}`,
    wait: 20,
  })
  expect(lost).toMatchObject({ status: 'failed', error_code: 'media_fetch_failed' })
}

async function sendDuringOutages(postgresProxy: TcpProxy, redisProxy: TcpProxy): Promise<void> {
  const given = { sender, number: recipient, message: text, password, wait: 1 }
  redisProxy.cut()
  await request('POST', '/send-message', given)
  redisProxy.heal()
  postgresProxy.cut()
  await request('POST', '/send-message', given)
  await request('POST', '/create-user', { email: 'x@example.com', password })
  postgresProxy.heal()
  await devnet.waitUntilReady()
  await until('a message gets through again', async () => {
    const { status } = await request('POST', '/send-message', { ...given, wait: 5 })
    return status === 'sent' || status === 'delivered'
  })
}

/** Decrypts what is stored of all devices, and takes out what nobody but us may know. */
async function noteSignalSecrets(): Promise<void> {
  const rows = await sql<{ device_id: number; type: string; id: string; value: Buffer }[]>`
    SELECT device_id, type, id, value FROM device_auth
    WHERE type <> 'pre-key' OR id::int % 100 = 0`
  const keys = readMasterKeys(masterKey)
  for (const { device_id, type, id, value } of rows) {
    const stored = makeVault(keys, device_id).open(value, authContext(type, id))
    noteSecretsIn(JSON.parse(stored.toString(), reviveBytes), `${type} ${id}`)
  }
}

const secretNames = /^(private|privKey|rootKey|chainKey|advSecretKey|keyData|seed|key|messageKeys)$/

function noteSecretsIn(value: unknown, name: string, isSecret = false): void {
  if (Buffer.isBuffer(value) || (typeof value === 'string' && /^[\w+/]{22,}={0,2}$/.test(value))) {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value, 'base64')
    if (isSecret && bytes.length >= 16) signalSecrets.push({ name, bytes })
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      noteSecretsIn(inner, `${name}.${key}`, isSecret || secretNames.test(key))
    }
  }
}

/** As Baileys writes bytes. */
function reviveBytes(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('data' in value)) return value
  return value.type === 'Buffer' && typeof value.data === 'string' ? Buffer.from(value.data, 'base64') : value
}

function logs(): Place[] {
  const folder = join(devnet.dataFolder, 'logs')
  return readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'latin1') }))
}

async function tables(): Promise<Place[]> {
  const names = await sql<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`
  return Promise.all(
    names.map(async ({ name }) => {
      const rows = await sql.unsafe<{ row: string }[]>(`SELECT t::text AS row FROM ${name} AS t`)
      return { name, text: Buffer.from(rows.map(({ row }) => row).join('\n')).toString('latin1') }
    }),
  )
}

async function openRedis() {
  const redis = connectForRequests(redisUrl, () => undefined)
  await firstAttempt(redis)
  return redis
}

/** Everything that stands in Redis, whatever its type. */
async function redisValues(): Promise<Place[]> {
  const redis = await openRedis()
  const readers: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.getBuffer(key),
    hash: (key) => redis.hgetallBuffer(key),
    list: (key) => redis.lrangeBuffer(key, 0, -1),
    set: (key) => redis.smembersBuffer(key),
    zset: (key) => redis.zrangeBuffer(key, '0', '-1'),
    stream: (key) => redis.xrangeBuffer(key, '-', '+'),
    // It has expired since it was listed.
    none: async () => '',
  }
  try {
    const places: Place[] = []
    for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
      const [next, keys] = await redis.scan(cursor, 'COUNT', 1000)
      cursor = next
      for (const key of keys) {
        const read = readers[await redis.type(key)]
        if (!read) throw new Error(`Nobody has said how to read ${key}`)
        places.push({ name: `Redis ${key}`, text: `${key} ${textOf(await read(key))}` })
      }
    }
    return places
  } finally {
    redis.disconnect()
  }
}

function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${textOf(inner)}`)
    .join('\n')
}

const wire = (): Place => ({ name: 'what went to and from Redis', text: overRedis.join('') })

const keysAndPasswords = () => [
  ...apiKeys.map((key, index) => secretText(`API key ${index}`, key)),
  secretText('a wrong API key', wrongKey),
  secretText('the password', password),
  secretText('the short password', shortPassword),
  { name: 'the master key', bytes: masterKey },
]
const contents = () => [
  secretText('the text', text),
  secretText('the caption', caption),
  secretText('the answer', answerText),
  secretText('the scheduled text', scheduledText),
  { name: 'the media', bytes: media.subarray(100, 200) },
]
const inUrls = () => [secretText('the secret in a URL', urlSecret)]
const qrCodes = () => qrTexts.map((qr, index) => secretText(`QR code ${index}`, qr))

describe('after a day of use', () => {
  it('there is something to look at', async () => {
    expect(signalSecrets.length).toBeGreaterThan(30)
    expect(signalSecrets.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'creds -.noiseKey.private',
        'creds -.signedIdentityKey.private',
        'creds -.advSecretKey',
      ]),
    )
    expect(signalSecrets.some(({ name }) => name.startsWith('session '))).toBe(true)
    expect(signalSecrets.some(({ name }) => name.startsWith('pre-key '))).toBe(true)
    expect(failures.length).toBeGreaterThan(25)
    expect(logs().map(({ name }) => name)).toEqual(expect.arrayContaining(['api.log', 'worker-1.log']))
    expect(logs().some(({ text }) => text.includes('Request completed'))).toBe(true)
    expect(wire().text).toContain('wa:device:')
    expect((await redisValues()).length).toBeGreaterThan(0)
    // The history has the texts, so the dump is one.
    expect(findSecrets(await tables(), contents()).length).toBeGreaterThan(2)
  })

  it('no log has a secret', () => {
    const all = [...keysAndPasswords(), ...contents(), ...inUrls(), ...qrCodes(), ...signalSecrets]
    expect(findSecrets(logs(), all)).toEqual([])
  })

  it('Redis has none, and none has passed through it', async () => {
    const all = [...keysAndPasswords(), ...contents(), ...inUrls(), ...signalSecrets]
    // A QR code, of which this key is a part, goes through Redis to whoever asks for it, and does not stay there.
    const passing = all.filter(({ name }) => name !== 'creds -.advSecretKey')
    expect(findSecrets([wire()], passing)).toEqual([])
    expect(findSecrets(await redisValues(), [...all, ...qrCodes()])).toEqual([])
  })

  it('the database has texts and nothing else', async () => {
    const all = [...keysAndPasswords(), ...qrCodes(), ...signalSecrets]
    expect(findSecrets(await tables(), all)).toEqual([])
  })

  it('no answer has told a caller a key, a password or a text that was refused', () => {
    const told = failures.map((said, index) => ({
      name: `failure ${index}: ${said}`,
      text: Buffer.from(said).toString('latin1'),
    }))
    expect(findSecrets(told, [...keysAndPasswords(), ...contents(), ...inUrls()])).toEqual([])
    const successful = successes.map((said, index) => ({
      name: `answer ${index}`,
      text: Buffer.from(said).toString('latin1'),
    }))
    expect(findSecrets(successful, keysAndPasswords())).toEqual([])
  })
})

describe('the search', () => {
  it('finds what is planted into a log, into Redis and into the database', async () => {
    const secret = { name: 'planted', bytes: randomBytes(32) }
    const inJson = JSON.stringify({ level: 20, msg: 'x', key: secret.bytes })
    appendFileSync(join(devnet.dataFolder, 'logs/worker-1.log'), `${inJson}\n`)
    const redis = await openRedis()
    await redis.hset('planted:hash', 'field', `before ${secret.bytes.toString('hex')} after`)
    await redis.xadd(
      'planted:stream',
      '*',
      'data',
      JSON.stringify({ deep: [secret.bytes.toString('base64')] }),
    )
    await redis.zadd('planted:zset', 1, secret.bytes)
    redis.disconnect()
    await sql`INSERT INTO device_auth SELECT id, 'planted', 'x', ${secret.bytes} FROM devices LIMIT 1`
    expect(findSecrets([...logs(), ...(await redisValues()), ...(await tables())], [secret]).sort()).toEqual([
      'planted as base64 in Redis planted:stream',
      'planted as bytes in Redis planted:zset',
      'planted as hex in Redis planted:hash',
      'planted as hex in public.device_auth',
      'planted as numbers in worker-1.log',
    ])
  })

  it('finds base64 wherever it begins in a longer text', () => {
    const bytes = randomBytes(40)
    for (const before of [0, 1, 2, 3, 4, 5]) {
      const text = Buffer.concat([randomBytes(before), bytes, randomBytes(7)]).toString('base64')
      expect(findSecrets([{ name: 'a text', text }], [{ name: 'it', bytes }])).toContain(
        'it as base64 in a text',
      )
    }
  })
})
