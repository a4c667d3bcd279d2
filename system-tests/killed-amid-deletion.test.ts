import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { shortLease } from '@wagate/test-kit/short-lease'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15552076001'
/** A few batches of each. Every one of them is a start of the worker, which takes seconds. */
const [messages, events, files] = [2500, 1500, 5]
const worker = 'worker-1'
const picture = mediaSamples.find(({ type }) => type === 'image')?.bytes ?? Buffer.alloc(0)

let system: TestSystem
beforeAll(async () => {
  system = await openTestSystem({ workers: 1, environment: shortLease })
}, 60_000)
afterAll(() => system?.close(), 30_000)

type Proof = { state: string; finished_at: string | null; deleted: Record<string, number> }

async function addRows(accountId: number): Promise<void> {
  const sql = system.database.$client
  const [device] = await sql`SELECT id FROM devices WHERE account_id = ${accountId}`
  const deviceId = Number(device?.id)
  await sql`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id, link_generation, created_at)
    SELECT gen_random_uuid(), ${accountId}, ${deviceId}, 'in', 'text', '1', '2', 'x', 'received', n::text, 1, now()
    FROM generate_series(1, ${messages}::int) AS n`
  await sql`
    INSERT INTO events (account_id, device_id, type) SELECT ${accountId}, ${deviceId}, 1
    FROM generate_series(1, ${events}::int)`
}

async function addFiles(account: GatewayClient): Promise<void> {
  for (let file = 0; file < files; file += 1) {
    const form = new FormData()
    form.append('file', new Blob([picture]), 'picture.png')
    const { status } = await account.request('/upload-media?type=image', { method: 'POST', body: form })
    expect(status).toBe(200)
  }
}

/** What is left, by table. The audit log and the proof stay. */
async function countLeft(accountId: number, deviceIds: number[]): Promise<Record<string, number>> {
  const sql = system.database.$client
  const tables = await sql<{ name: string; column: string }[]>`
    SELECT relname AS name, attname AS column FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      AND attname IN ('account_id', 'device_id') AND NOT attisdropped
      AND relname NOT IN ('audit_log', 'account_deletions')`
  const left: Record<string, number> = {}
  for (const { name, column } of tables) {
    const ids = column === 'account_id' ? [accountId] : deviceIds
    const [row] = await sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM ${sql(name)} WHERE ${sql(column)} = ANY (${ids}::int[])`
    if (row?.count) left[`${name}.${column}`] = row.count
  }
  return left
}

function countFiles(accountId: number): number {
  const folder = join(system.devnet.dataFolder, 'media', String(accountId))
  if (!existsSync(folder)) return 0
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile()).length
}

it('an account is deleted to the end, and counted rightly, however often the worker is killed', async () => {
  const account = await system.createAccount()
  await account.link(sender)
  const accountId = Number((await account.get('user-info')).body.id)
  const sql = system.database.$client
  const [device] = await sql`SELECT id FROM devices WHERE account_id = ${accountId}`
  await addRows(accountId)
  await addFiles(account)
  expect(countFiles(accountId)).toBe(files)
  const { body } = await system.admin.call('delete-account', { user_id: accountId })
  const readProof = async () =>
    (await system.admin.call('deletion-proof', { proof: body.proof })).body as Proof

  system.devnet.signal('api', 'SIGKILL')
  await until('the API is gone', () => !system.devnet.pid('api'))
  await system.devnet.start('api')
  const answers = () =>
    readProof().then(
      () => true,
      () => false,
    )
  await until('it answers again', answers)
  await sql`UPDATE account_deletions SET due_at = now() WHERE account_id = ${accountId}`
  let kills = 0
  const step = async () => {
    const [row] = await sql`SELECT count(removed_at) AS removed FROM devices WHERE account_id = ${accountId}`
    return JSON.stringify([await readProof(), row])
  }
  while ((await readProof()).state !== 'deleted') {
    const before = await step()
    system.devnet.signal(worker, 'SIGKILL')
    await until(`${worker} is gone`, () => !system.devnet.pid(worker))
    kills += 1
    // What was running when the account was disabled is over.
    await sql`UPDATE accounts SET disabled_at = now() - interval '11 minutes' WHERE id = ${accountId}`
    // A worker that starts does now what is left for the next minute.
    await system.devnet.start(worker)
    await until(
      'the deletion goes on',
      { withinMs: 60_000, everyMs: 5 },
      async () => (await step()) !== before,
    )
  }
  const proof = await readProof()
  expect(kills).toBeGreaterThan(3)
  expect(await countLeft(accountId, [Number(device?.id)])).toEqual({})
  expect(countFiles(accountId)).toBe(0)
  expect(proof.deleted).toMatchObject({ messages, uploaded_files: files, devices: 1 })
  expect(proof.finished_at).not.toBeNull()
}, 240_000)
