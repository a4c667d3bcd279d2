import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordMasterKey } from '@wagate/db/queries/credentials/master-keys'
import { openMediaStore } from '@wagate/media-store/open-media-store'
import { makeBoxKey } from '@wagate/shared/sealed-box'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeExportStream } from '../src/export/export-stream.ts'
import { createSender, type Gateway, startCuttableGateway, startGateway } from './gateway.ts'

type Line = Record<string, unknown> & { type: string }
type Account = Awaited<ReturnType<Gateway['createAccount']>>

let gateway: Gateway
const folder = mkdtempSync(join(tmpdir(), 'wagate-export-'))
beforeAll(async () => {
  gateway = await startGateway()
  // As a worker does when it starts.
  await recordMasterKey(gateway.db, '0badcafe', makeBoxKey(randomBytes(32)).publicKey)
})
afterAll(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true })
})

const begin = ({ apiKey }: Account, signal: AbortSignal | null = null, url = gateway.url) =>
  fetch(`${url}/export-account`, { method: 'POST', headers: { 'x-api-key': apiKey }, signal })

async function exportLines(account: Account): Promise<Line[]> {
  const response = await begin(account)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/x-ndjson')
  const text = await response.text()
  expect(text.endsWith('\n')).toBe(true)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

async function addMessages(account: Account, deviceId: number, count: number): Promise<void> {
  // A third of them at the same time, as those of one request are.
  await gateway.db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id, link_generation, created_at)
    SELECT gen_random_uuid(), ${account.userId}, ${deviceId}, 'in', 'text', '1', '2', 'x', 'received', n::text, 1,
      now() - interval '1 minute' - greatest(n, ${count}::int / 3) * interval '1 ms'
    FROM generate_series(1, ${count}::int) AS n`
}

/** A file that these messages share. Undefined bytes: it is not in the store. */
async function addReceivedFile(
  account: Account,
  deviceId: number,
  bytes: Buffer,
  isInStore = true,
): Promise<void> {
  const path = join(folder, 'file')
  const sha256 = createHash('sha256').update(bytes).digest()
  writeFileSync(path, bytes)
  const store = openMediaStore({ kind: 'folder', folder: gateway.mediaFolder })
  const content = { accountId: account.userId, sha256: sha256.toString('hex') }
  if (isInStore) await store.put(content, { path, size: bytes.length })
  for (const name of ['a.bin', 'a.bin'])
    await gateway.db.$client`
      INSERT INTO received_media (message_id, account_id, device_id, state, mime, filename, size, sha256)
      VALUES (${randomUUID()}, ${account.userId}, ${deviceId}, 'stored', 'application/pdf', ${name}, ${bytes.length}, ${sha256})`
}

const countByType = (lines: Line[]) => {
  const counts: Record<string, number> = {}
  for (const { type } of lines) if (type !== 'end') counts[type] = (counts[type] ?? 0) + 1
  return counts
}

test('an export has everything of the account, its files byte by byte, and ends with its counts', async () => {
  const { account, sender, deviceId } = await createSender(gateway)
  const stranger = await createSender(gateway)
  await stranger.account.post('/send-message', {
    sender: stranger.sender,
    number: '4915100000001',
    message: 'theirs',
  })
  await addMessages(account, deviceId, 1001)
  const { body: sent } = await account.post('/send-message', {
    sender,
    number: '4915100000001',
    message: 'Hello',
  })
  await account.post('/opt-out', { number: '4915100000002' })
  await gateway.db.$client`
    INSERT INTO contacts (account_id, lid_jid, number, username, seen_on) VALUES
      (${account.userId}, '17@lid', '15552084104', 'ann.b', '2026-01-31'), (${account.userId}, '18@lid', NULL, NULL, '2026-01-31'),
      (${stranger.account.userId}, '19@lid', NULL, 'theirs', '2026-01-31')`
  const { body: webhook } = await account.post('/set-webhook', { url: 'https://shop.example.com/hook' })
  expect(webhook).toMatchObject({ ok: true })
  const [received, uploaded] = [randomBytes(900_000), randomBytes(100)]
  await addReceivedFile(account, deviceId, received)
  await addReceivedFile(account, deviceId, randomBytes(10), false)
  const upload = await fetch(`${gateway.url}/upload-media`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/octet-stream' },
    body: uploaded,
  })
  const { media_id: mediaId } = (await upload.json()) as { media_id: string }

  const lines = await exportLines(account)
  const end = lines.at(-1)
  expect(end).toEqual({ type: 'end', counts: countByType(lines) })
  const stored = await gateway.db.$client`
    SELECT count(*)::int AS events FROM events WHERE account_id = ${account.userId}`
  expect(end?.counts).toEqual({
    account: 1,
    key: 1,
    device: 1,
    webhook: 1,
    contact: 2,
    opt_out: 1,
    message: 1002,
    event: stored[0]?.events,
    upload: 1,
    file: 4,
    missing_file: 1,
  })
  expect(lines.filter(({ type }) => type === 'contact')).toEqual([
    { type: 'contact', number: '15552084104', lid: '17', username: 'ann.b', seen_on: '2026-01-31' },
    { type: 'contact', number: null, lid: '18', seen_on: '2026-01-31' },
  ])
  const messages = lines.filter(({ type }) => type === 'message')
  const ids = messages.map(({ message }) => (message as Line).message_id)
  expect(new Set(ids).size).toBe(1002)
  expect(ids.at(-1)).toBe(sent.message_id)
  expect(messages.at(-1)).toMatchObject({ message: { message: 'Hello' }, timeline: expect.any(Array) })

  const contents = new Map<string, Buffer[]>()
  for (const { sha256, part, parts, data } of lines.filter(({ type }) => type === 'file')) {
    const before = contents.get(String(sha256)) ?? []
    expect(part).toBe(before.length + 1)
    expect(parts).toBe(sha256 === createHash('sha256').update(received).digest('hex') ? 3 : 1)
    expect(String(data).length).toBeLessThanOrEqual(512 * 1024)
    contents.set(String(sha256), [...before, Buffer.from(String(data), 'base64')])
  }
  for (const [sha256, chunks] of contents)
    expect(createHash('sha256').update(Buffer.concat(chunks)).digest('hex')).toBe(sha256)
  expect(lines.find(({ type }) => type === 'upload')).toMatchObject({ media_id: mediaId, size: 100 })

  const text = JSON.stringify(lines)
  expect(text).not.toContain(account.apiKey)
  expect(text).not.toContain(String(webhook.secret))
  expect(text).not.toContain('theirs')
})

test('an account has one export at a time, and a client that leaves ends it', async () => {
  const { account, deviceId } = await createSender(gateway)
  await addReceivedFile(account, deviceId, randomBytes(20_000_000))
  const leaving = new AbortController()
  const first = await begin(account, leaving.signal)
  const second = await begin(account)
  expect(second.status).toBe(429)
  expect(await second.json()).toMatchObject({ code: 'rate_limited', limit: 'account-exports' })
  // The first one holds no connection while its client reads nothing.
  await until('no connection is busy', async () => {
    const busy = await gateway.db.$client`
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'wagate-api%' AND state <> 'idle'`
    return busy.length === 0
  })
  expect((await begin(account)).status).toBe(429)
  expect(first.status).toBe(200)
  leaving.abort()
  await until('another export begins', async () => {
    const response = await begin(account)
    await response.body?.cancel()
    return response.status === 200
  })
})

test('an export breaks off without its last line when the account is disabled meanwhile', async () => {
  const { account, deviceId } = await createSender(gateway)
  await addReceivedFile(account, deviceId, randomBytes(40_000_000))
  const response = await begin(account)
  const reader = response.body?.getReader()
  await reader?.read()
  await gateway.admin.post('/update-user', { user_id: account.userId, disabled: true })
  let text = ''
  const readAll = async () => {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      text = Buffer.from(next.value).toString().slice(-100)
    }
  }
  await expect(readAll()).rejects.toThrow()
  expect(text).not.toContain('"end"')
})

test('an export of which nothing can be read is refused, and leaves room for the next', async () => {
  const cuttable = await startCuttableGateway()
  try {
    const account = await cuttable.createAccount()
    const ask = () => account.get('/export-account')
    // Its key is known from now on.
    expect((await account.get('/user-info')).status).toBe(200)
    cuttable.postgres.cut()
    expect(await ask()).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    cuttable.postgres.heal()
    cuttable.postgres.freeze()
    expect(await ask()).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    cuttable.postgres.cut()
    cuttable.postgres.heal()
    await until('it is exported', async () => {
      const response = await begin(account, null, cuttable.url)
      return (await response.text()).includes('"type":"end"')
    })
  } finally {
    await cuttable.close()
  }
})

test('a client that reads nothing loses its export', async () => {
  let [isEnded, isHungUp] = [false, false]
  async function* pages() {
    for (;;) yield [{ type: 'message' }]
  }
  const stream = await makeExportStream({
    pages,
    isAdmitted: async () => true,
    hangUp: () => {
      isHungUp = true
    },
    closing: new AbortController().signal,
    onEnd: () => {
      isEnded = true
    },
    onError: () => undefined,
    stallMs: 20,
  })
  const reader = stream.getReader()
  expect((await reader.read()).done).toBe(false)
  await until('it is broken off', () => isEnded)
  expect(isHungUp).toBe(true)
  expect((await reader.read()).done).toBe(true)
})
