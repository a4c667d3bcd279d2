import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { bundledApps } from '@wagate/test-kit/servers/test-bundle'
import { createTestDatabase, type TestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { connectTo } from '@wagate/test-kit/servers/test-run'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import type postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRedis, readLogs, readRedis, readTables } from './searched-texts.ts'
import { findSecrets, type SearchedText, type Secret, secretText } from './secret-search.ts'
import { confidential, type Seen, useSystem } from './secret-use.ts'
import { readSignalSecrets } from './signal-secrets.ts'

const masterKey = randomBytes(32)

let devnet: Devnet
let database: TestDatabase
let sql: postgres.Sql
let redisUrl: string
const proxies: TcpProxy[] = []
const overRedis: string[] = []
let seen: Seen
let signalSecrets: Secret[]

// With the default limits, because they write keys to Redis too.
beforeAll(async () => {
  database = await createTestDatabase()
  redisUrl = await testRedisUrl()
  sql = connectTo(database.url)
  const postgres = await startTcpProxy(database.url)
  const redis = await startTcpProxy(redisUrl, {
    onData: (chunk) => overRedis.push(chunk.toString('latin1')),
  })
  proxies.push(postgres, redis)
  devnet = await startDevnet({
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    compiledIn: await bundledApps(),
    workers: 1,
    environment: () => ({
      LOG_LEVEL: 'trace',
      SEND_RATE_PER_MINUTE: '0',
      MASTER_KEY: masterKey.toString('base64'),
    }),
  })
  seen = await useSystem({ devnet, gateway: makeGatewayClient(devnet), postgres, redis }, async () => {
    signalSecrets = await readSignalSecrets(sql, masterKey)
  })
}, 120_000)

afterAll(async () => {
  await devnet?.close()
  await sql?.end()
  for (const proxy of proxies) await proxy.close()
  await database?.drop()
}, 30_000)

const wire = (): SearchedText => ({ name: 'the traffic of Redis', text: overRedis.join('') })
const logs = () => readLogs(devnet.dataFolder)
const tables = () => readTables(sql)
const redisValues = () => readRedis(redisUrl)

const keysAndPasswords = () => [
  ...seen.apiKeys.map((key, index) => secretText(`API key ${index}`, key)),
  secretText('a wrong API key', confidential.wrongKey),
  secretText('the password', confidential.password),
  secretText('the short password', confidential.shortPassword),
  secretText('the password of a proxy', confidential.proxyPassword),
  { name: 'the master key', bytes: masterKey },
]
const contents = () => [
  secretText('the text', confidential.text),
  secretText('the caption', confidential.caption),
  secretText('the answer', confidential.answerText),
  secretText('the scheduled text', confidential.scheduledText),
  { name: 'the media', bytes: confidential.media.subarray(100, 200) },
]
const inUrls = () => [secretText('the secret in a URL', confidential.urlSecret)]
const qrCodes = () => seen.qrTexts.map((qr, index) => secretText(`QR code ${index}`, qr))
const signatures = () => seen.signatures.map((text) => secretText('the signature of a passkey', text))

describe('after a day of use', () => {
  it('logs, Redis and the database have content to search', async () => {
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
    expect(seen.signatures).toHaveLength(1)
    expect(seen.failures.length).toBeGreaterThan(25)
    expect(logs().map(({ name }) => name)).toEqual(expect.arrayContaining(['api.log', 'worker-1.log']))
    expect(logs().some(({ text }) => text.includes('Request completed'))).toBe(true)
    expect(wire().text).toContain('wa:device:')
    expect((await redisValues()).length).toBeGreaterThan(0)
    // The history contains the texts, so a complete dump does too.
    expect(findSecrets(await tables(), contents()).length).toBeGreaterThan(2)
  })

  it('no log has a secret', () => {
    const all = [
      ...keysAndPasswords(),
      ...contents(),
      ...inUrls(),
      ...qrCodes(),
      ...signatures(),
      ...signalSecrets,
    ]
    expect(findSecrets(logs(), all)).toEqual([])
  })

  it('Redis has none, and none has passed through it', async () => {
    const all = [...keysAndPasswords(), ...contents(), ...inUrls(), ...signalSecrets]
    // Redis passes on QR codes, of which this key is a part, and signatures of passkeys. It keeps neither.
    const passing = all.filter(({ name }) => name !== 'creds -.advSecretKey')
    expect(findSecrets([wire()], passing)).toEqual([])
    expect(findSecrets(await redisValues(), [...all, ...qrCodes(), ...signatures()])).toEqual([])
  })

  it('the database has texts and nothing else', async () => {
    const all = [...keysAndPasswords(), ...qrCodes(), ...signatures(), ...signalSecrets]
    expect(findSecrets(await tables(), all)).toEqual([])
  })

  it('no answer has told a caller a key, a password or a text that was refused', () => {
    const refusals = seen.failures.map((text, index) => ({
      name: `failure ${index}: ${text}`,
      text: Buffer.from(text).toString('latin1'),
    }))
    expect(findSecrets(refusals, [...keysAndPasswords(), ...contents(), ...inUrls()])).toEqual([])
    const answers = seen.successes.map((text, index) => ({
      name: `answer ${index}`,
      text: Buffer.from(text).toString('latin1'),
    }))
    expect(findSecrets(answers, keysAndPasswords())).toEqual([])
  })
})

describe('the search', () => {
  it('finds what is planted into a log, into Redis and into the database', async () => {
    const secret = { name: 'planted', bytes: randomBytes(32) }
    const inJson = JSON.stringify({ level: 20, msg: 'x', key: secret.bytes })
    appendFileSync(join(devnet.dataFolder, 'logs/worker-1.log'), `${inJson}\n`)
    const redis = await openRedis(redisUrl)
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
})
