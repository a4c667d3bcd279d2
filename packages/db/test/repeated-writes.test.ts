import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { firstPosition } from '@wagate/shared/event-ids'
import { makeMessageId, whatsAppIdOf } from '@wagate/shared/ids'
import { until } from '@wagate/test-kit/until'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { acceptMessages } from '../src/queries/messages/accept-messages.ts'
import { claimWebhooks, renewDispatcher } from '../src/queries/webhooks/webhook-leases.ts'
import { insertWebhook } from '../src/queries/webhooks/webhooks.ts'
import { openOwnedDevices } from './owned-devices.ts'
import { deviceSteps } from './repeated-device-steps.ts'
import { type Draw, messageSteps, variants, type World } from './repeated-steps.ts'
import { dumpTables, emptyTables } from './table-dump.ts'

const steps = { ...messageSteps, ...deviceSteps }

type Place = { owned: Awaited<ReturnType<typeof openOwnedDevices>>; url: string; held: Database }
let places: Place[]

beforeAll(async () => {
  places = await Promise.all([openPlace(), openPlace()])
})
afterAll(async () => {
  await Promise.all(
    places.map(async ({ owned, held }) => {
      await closeDatabase(held)
      await owned.drop()
    }),
  )
})

async function openPlace(): Promise<Place> {
  const owned = await openOwnedDevices()
  const { url } = owned
  const held = openDatabase(url, { poolSize: 1, applicationName: 'held', statementTimeoutMs: 5000 })
  return { owned, url, held }
}

const sender = '4915100000001'
const contacts = ['5511955501000', '4915187654321']
const ids = Array.from({ length: 3 }, () => makeMessageId(sender))
const onPhone = makeMessageId(sender)
const receivedIds = Array.from({ length: 2 * variants }, () => makeMessageId(sender))

async function openWorld({ owned }: Place): Promise<World> {
  const { db, accountId } = owned
  await emptyTables(db)
  const { deviceId, fence } = await owned.addLinkedDevice(sender)
  await db.$client`
    UPDATE devices SET desired_rev = 1, pairing_until = now() + interval '1 hour' WHERE id = ${deviceId}`
  const rest = {
    type: 'text',
    url: null,
    filename: null,
    sendAt: null,
    media: null,
    idempotency: null,
  } as const
  const given = ids.map((id, index) => ({
    ...{ id, waId: whatsAppIdOf(id), accountId, sender, body: 'x', number: contacts[index % 2] ?? '' },
    ...rest,
  }))
  await acceptMessages(db, given, { mediaBytesMax: 0 })
  const messages = await db.$client<World['messages']>`
    SELECT id, wa_id AS "waId", created_at::text AS "createdAt" FROM messages ORDER BY seq`
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id, link_generation,
      source, written_at)
    VALUES (${onPhone}, ${accountId}, ${deviceId}, 'out', 'text', ${sender}, ${contacts[0] ?? ''}, 'x', 'sent', 'ON PHONE', 1,
      'phone', now() - interval '1 minute')`
  const settings = { url: 'https://example.com/', name: 'x', types: null, deviceIds: null, eventsMax: 1 }
  await db.transaction((tx) => insertWebhook(tx, accountId, settings, firstPosition))
  const dispatcher = randomUUID()
  await renewDispatcher(db, dispatcher, 60_000)
  const [lease] = await claimWebhooks(db, dispatcher, 1)
  if (!lease) throw new Error('The webhook was not claimed')
  return { db, accountId, deviceId, fence, lease, sender, contacts, messages, receivedIds, isLinked: true }
}

/** `again`: after its answer was lost. `beside`: while the first attempt is still committing. */
const modes = ['once', 'again', 'beside'] as const
type Mode = (typeof modes)[number]

async function repeat(write: (db: Database) => Promise<unknown>, mode: Mode, { owned, held }: Place) {
  if (mode !== 'beside') {
    await write(owned.db)
    if (mode === 'again') await write(owned.db)
    return
  }
  await held.$client.unsafe('BEGIN')
  await write(held)
  let isSettled = false
  const repeated = write(owned.db).finally(() => {
    isSettled = true
  })
  repeated.catch(() => undefined)
  await until('it waits, or has ended', async () => isSettled || (await isBlocked(held)))
  await held.$client.unsafe('COMMIT')
  await repeated
}

async function isBlocked(held: Database): Promise<boolean> {
  const [row] = await held.$client`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`
  return row !== undefined
}

const draw = fc.record({
  kind: fc.constantFrom(...Object.keys(steps)),
  mode: fc.constantFrom(...modes),
  message: fc.nat(2),
  contact: fc.nat(1),
  variant: fc.nat(variants - 1),
})

async function check(history: (Omit<Draw, 'turn'> & { kind: string; mode: Mode })[]) {
  const [plain, tried] = places as [Place, Place]
  const worlds = [await openWorld(plain), await openWorld(tried)] as const
  for (const [turn, { kind, mode, ...rest }] of history.entries()) {
    const [once, repeated] = worlds.map((world) => steps[kind]?.(world, { ...rest, turn }))
    if (!once || !repeated) throw new Error(`No step ${kind}`)
    await once(plain.owned.db)
    await repeat(repeated, mode, tried)
  }
  expect(await dumpTables(worlds[1].db)).toEqual(await dumpTables(worlds[0].db))
}

/** What a write may find: a linked device, or one that shows a QR code. */
const preludes = {
  linked: [{ kind: 'receive' }, { kind: 'requestRead' }],
  pairing: [{ kind: 'wipe' }, { kind: 'connection', variant: 3 }],
}

test.each(Object.keys(steps))(
  'the write %s that is repeated while it is committing has happened once',
  async (kind) => {
    for (const prelude of Object.values(preludes)) {
      for (const variant of [0, 1, 2, 3, 4]) {
        const given = { message: variant, contact: variant, variant }
        const before = prelude.map((step) => ({ ...given, mode: 'once' as const, ...step }))
        await check([...before, { ...given, kind, mode: 'beside' }])
      }
    }
  },
)

test('whatever is repeated in a history, all of it has happened once', async () => {
  await fc.assert(fc.asyncProperty(fc.array(draw, { minLength: 1, maxLength: 12 }), check), { numRuns: 30 })
}, 120_000)

/** Functions whose writes need no step here, by their files. */
const otherWrites = {
  /** Whoever made the request repeats it, with an idempotency key where twice would be wrong. */
  requests: [
    ...[
      'accounts',
      'api-keys',
      'audit-log',
      'device-desired-state',
      'device-proxies',
      'devices',
      'idempotency',
      'uploaded-media',
    ],
    ...['pairing-links', 'stream-tokens', 'waiting-media', 'webhook-deliveries', 'webhooks'],
    ...['account-deletions', 'mailed-links', 'sender-pause', 'sessions'],
  ],
  /** They change what a condition finds, and do not find it again. */
  upkeep: [
    ...['client-versions', 'event-epoch', 'housekeeping', 'installation', 'master-keys', 'media-content'],
    ...['sealed-values', 'signal-format', 'account-files', 'account-removal', 'contact-upkeep', 'opt-outs'],
  ],
  /** The next heartbeat tells the process what it owns. */
  leases: ['device-owner-view', 'shard-leases', 'webhook-leases', 'workers'],
  /** Their callers do not repeat them. */
  tries: ['device-removal', 'message-setbacks'],
  /** Of the statements of other files. */
  parts: [
    'consent-steps',
    'device-auth',
    'device-event-rows',
    'event-rows',
    'joined-consents',
    'known-contacts',
    'message-counts',
    'received-media-rows',
    'warm-up',
    'write-keys',
  ],
}

test('every file with a statement that writes has a step, or a reason why it needs none', async () => {
  const folder = new URL('../src/queries/', import.meta.url)
  const stepFiles = await Promise.all(
    ['repeated-steps.ts', 'repeated-device-steps.ts'].map((name) =>
      readFile(new URL(name, import.meta.url), 'utf8'),
    ),
  )
  const writing = /INSERT INTO|UPDATE \S+( AS \S+)? SET|DELETE FROM|\.(insert|update|delete)\(/
  const missing: string[] = []
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(80)
  for (const file of files) {
    const name = basename(file, '.ts')
    const isKnown = stepFiles.some((text) => text.includes(`/queries/${file}'`))
    if (isKnown || Object.values(otherWrites).flat().includes(name)) continue
    if (writing.test(await readFile(new URL(file, folder), 'utf8'))) missing.push(name)
  }
  expect(missing).toEqual([])
})
