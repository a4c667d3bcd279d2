import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { cancelAccountDeletion } from '@wagate/db/queries/retention/account-deletions'
import {
  beginAccountDeletion,
  deleteRows,
  deletionKinds,
  listDeletionSteps,
} from '@wagate/db/queries/retention/account-removal'
import { openMediaStore } from '@wagate/media-store/open-media-store'
import { makeLogger } from '@wagate/runtime/logger'
import { createTestDatabase, type TestDatabase } from '@wagate/test-kit/servers/test-database'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeAccountFiles } from '../src/received-media/account-files.ts'
import { deleteDueAccounts } from '../src/upkeep/account-deletions.ts'
import {
  type AccountRows,
  addAccountRows,
  dumpAccount,
  keptTables,
  listTablesOfAccounts,
} from './account-rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-deletions-'))
const store = openMediaStore({ kind: 'folder', folder: join(folder, 'media') })
const logger = makeLogger('test', 'silent')
let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 4, applicationName: 'test', statementTimeoutMs: 10_000 })
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
  rmSync(folder, { recursive: true })
})

const addAccount = () => addAccountRows(db, `${randomUUID()}@example.com`)

/** With the senders logged out, and everything that was running over. */
async function makeReady({ accountId }: AccountRows): Promise<void> {
  await requestDeletion(accountId)
  await beginAccountDeletion(db, accountId)
  await db.$client`UPDATE devices SET removed_at = now() WHERE account_id = ${accountId}`
}

async function requestDeletion(accountId: number, due = '0 s'): Promise<void> {
  await db.$client`UPDATE accounts SET disabled_at = now() - interval '11 minutes' WHERE id = ${accountId}`
  // Of an upload that was being stored when its process was killed.
  await db.$client`
    UPDATE uploaded_media SET created_at = now() - interval '61 minutes' WHERE account_id = ${accountId}`
  await db.$client`
    INSERT INTO account_deletions (account_id, proof_hash, due_at)
    VALUES (${accountId}, decode(md5(random()::text), 'hex'), now() + ${due}::interval)`
}

const deleteAccounts = () => deleteDueAccounts(db, logger, new AbortController().signal)

async function readDeletion({ accountId }: AccountRows) {
  const [row] = await db.$client<{ isFinished: boolean; deleted: Record<string, number> }[]>`
    SELECT finished_at IS NOT NULL AS "isFinished", deleted FROM account_deletions WHERE account_id = ${accountId}`
  return row ?? expect.fail('no deletion')
}

const countRows = (dump: Map<string, string[]>) =>
  [...dump.values()].reduce((sum, rows) => sum + rows.length, 0)

/** Stores the file of a message, or of an upload. */
async function addFile({ accountId, deviceId }: AccountRows, kind: 'received' | 'uploaded'): Promise<void> {
  const bytes = randomBytes(100)
  const path = join(folder, 'file')
  const sha256 = createHash('sha256').update(bytes).digest()
  const id = randomUUID()
  writeFileSync(path, bytes)
  const content = { accountId, sha256: sha256.toString('hex') }
  const file = { path, size: bytes.length }
  if (kind === 'received') {
    await store.put(content, file)
    await db.$client`
      INSERT INTO received_media (message_id, account_id, device_id, state, sha256)
      VALUES (${id}, ${accountId}, ${deviceId}, 'stored', ${sha256})`
  } else {
    await store.put({ ...content, uploadId: id }, file)
    await db.$client`
      INSERT INTO uploaded_media (media_id, account_id, expires_at, stored_at, mime, size, sha256)
      VALUES (${id}, ${accountId}, now(), now(), 'image/png', 100, ${sha256})`
  }
}

function countFiles({ accountId }: AccountRows): number {
  const found = readdirSync(join(folder, 'media', String(accountId)), {
    recursive: true,
    withFileTypes: true,
  })
  return found.filter((entry) => entry.isFile()).length
}

test('every table that holds something of an account is deleted, or known to be kept', async () => {
  const deleted = deletionKinds.map(({ table }) => table)
  const elsewhere = ['accounts', 'received_media', 'uploaded_media']
  expect(await listTablesOfAccounts(db)).toEqual([...deleted, ...elsewhere, ...keptTables].sort())
})

test('nothing of a deleted account remains, and everything of another does', async () => {
  const [gone, other] = [await addAccount(), await addAccount()]
  for (const account of [gone, other]) {
    await addFile(account, 'received')
    await addFile(account, 'uploaded')
  }
  const [before, kept] = [await dumpAccount(db, gone), await dumpAccount(db, other)]
  for (const [table, rows] of before) expect(rows.length, table).toBeGreaterThan(0)
  await makeReady(gone)
  await deleteAccounts()
  expect(await readDeletion(gone)).toMatchObject({ isFinished: false })
  await removeAccountFiles(db, store)
  await deleteAccounts()

  for (const [table, rows] of await dumpAccount(db, gone)) expect(rows, table).toEqual([])
  expect(await dumpAccount(db, other)).toEqual(kept)
  expect([countFiles(gone), countFiles(other)]).toEqual([0, 2])
  const { isFinished, deleted } = await readDeletion(gone)
  expect(isFinished).toBe(true)
  expect(deleted).toMatchObject({ devices: 1, messages: 1, events: 1, received_files: 2, uploaded_files: 2 })
  // The account itself is not counted. The row of its used bytes is.
  expect(Object.values(deleted).reduce((sum, count) => sum + count)).toBe(countRows(before) - 1)
})

test('a deletion that was interrupted goes on, and several processes count nothing twice', async () => {
  const account = await addAccount()
  const { accountId, deviceId } = account
  await db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, status, wa_id, link_generation, created_at)
    SELECT gen_random_uuid(), ${accountId}, ${deviceId}, 'out', 'text', '1', '2', 'sent', 'X', 1, now() + (n % 3 - 1) * interval '7 days'
    FROM generate_series(1, 4000) AS n`
  await makeReady(account)
  const steps = (await listDeletionSteps(db)).filter(({ name }) => name === 'messages')
  const sizes = await Promise.all(steps.map((step) => deleteRows(db, accountId, step)))
  expect(Math.max(...sizes)).toBe(1000)
  // As if the process were killed after these statements. Two others go on.
  await Promise.all([removeAccountFiles(db, store), removeAccountFiles(db, store)])
  await Promise.all([deleteAccounts(), deleteAccounts(), deleteAccounts()])
  expect(countRows(await dumpAccount(db, account))).toBe(0)
  expect(await readDeletion(account)).toMatchObject({
    isFinished: true,
    deleted: { messages: 4001, events: 1, received_files: 1, keys: 1 },
  })
})

test('nothing is deleted before it is due, or before the senders are logged out for a day at most', async () => {
  const [early, linked, silent] = [await addAccount(), await addAccount(), await addAccount()]
  await requestDeletion(early.accountId, '1 minute')
  await requestDeletion(linked.accountId)
  await requestDeletion(silent.accountId)
  const before = await Promise.all(
    [early, linked].map(async (account) => countRows(await dumpAccount(db, account))),
  )
  await deleteAccounts()
  await db.$client`UPDATE devices SET deleted_at = now() - interval '25 hours' WHERE account_id = ${silent.accountId}`
  await removeAccountFiles(db, store)
  await deleteAccounts()
  expect(
    await Promise.all([early, linked].map(async (account) => countRows(await dumpAccount(db, account)))),
  ).toEqual(before)
  expect(await readDeletion(silent)).toMatchObject({ isFinished: true })
  const [device] = await db.$client`
    SELECT desired, deleted_at IS NOT NULL AS "isDeleted" FROM devices WHERE account_id = ${linked.accountId}`
  expect(device).toEqual({ desired: 'unlinked', isDeleted: true })
  // Only what has not begun can be canceled.
  const cancel = ({ accountId }: AccountRows) => db.transaction((tx) => cancelAccountDeletion(tx, accountId))
  expect([await cancel(early), await cancel(linked), await cancel(early)]).toEqual([
    'canceled',
    'under_way',
    'none',
  ])
})

test('an account that was disabled just now is not deleted while its last requests run', async () => {
  const account = await addAccount()
  await makeReady(account)
  await db.$client`UPDATE accounts SET disabled_at = now() WHERE id = ${account.accountId}`
  await removeAccountFiles(db, store)
  await deleteAccounts()
  for (const [table, rows] of await dumpAccount(db, account)) expect(rows.length, table).toBeGreaterThan(0)
})

test('a process that has waited for another sees what that one has deleted', async () => {
  const account = await addAccount()
  const { accountId } = account
  await db.$client`
    INSERT INTO opt_outs (account_id, number) SELECT ${accountId}, n::text FROM generate_series(100001, 101009) AS n`
  await makeReady(account)
  const step = (await listDeletionSteps(db)).find(({ name }) => name === 'opt_outs') ?? expect.fail('no step')
  const waited = await db.$client.begin(async (sql) => {
    await sql`SELECT FROM account_deletions WHERE account_id = ${accountId} FOR UPDATE`
    const waiting = deleteRows(db, accountId, step)
    await until('it waits', async () => {
      const [row] = await db.$client`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return row !== undefined
    })
    await sql`
      DELETE FROM opt_outs WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM opt_outs WHERE account_id = ${accountId} LIMIT 1000))`
    return [waiting]
  })
  expect(await waited[0]).toBe(10)
})
