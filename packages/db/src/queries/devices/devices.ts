import { phoneForms } from '@wagate/shared/phone'
import type { DeviceStatus } from '@wagate/shared/statuses'
import { and, asc, desc, eq, getTableColumns, gt, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../client.ts'
import { accounts } from '../../schema/accounts.ts'
import { deviceProxies, devices, newContacts } from '../../schema/devices.ts'
import { installation } from '../../schema/installation.ts'
import { deviceStatus, deviceStatusReason } from './device-public-status.ts'
import { isLinked } from './linked-device.ts'
import { tightestPace } from './tightest-pace.ts'

/**
 * Its pacing is limited by that of the account. `newContactsUsed`: in the current UTC day. `proxy`: without user name and
 * password.
 */
export type Device = typeof devices.$inferSelect & {
  status: DeviceStatus
  newContactsUsed: number
  proxy: string | null
}

/** At least one of the two. Both must agree. */
export type DeviceLocator = { deviceId?: number | undefined; sender?: string | undefined }

/** Leaves out deleted devices, which exist only until their owner has removed them. */
export function inAccount(accountId: number): SQL | undefined {
  return and(eq(devices.accountId, accountId), isNull(devices.deletedAt))
}

/** One device of the account, with the same exception. */
export function isDevice(accountId: number, deviceId: number): SQL | undefined {
  return and(inAccount(accountId), eq(devices.id, deviceId))
}

const columns = {
  ...getTableColumns(devices),
  statusReason: deviceStatusReason,
  ratePerMinute: tightestOf('rate_per_minute'),
  burst: tightestOf('burst'),
  dailyCap: tightestOf('daily_cap'),
  newContactsPerDay: tightestOf('new_contacts_per_day'),
  newContactsUsed: sql<number>`(SELECT count(*)::int FROM ${newContacts}
    WHERE ${newContacts.deviceId} = ${devices.id} AND ${newContacts.createdAt} >= date_trunc('day', now(), 'UTC'))`,
  proxy: sql<string | null>`(SELECT ${deviceProxies.shown} FROM ${deviceProxies}
    WHERE ${deviceProxies.deviceId} = ${devices.id})`,
}

function tightestOf(column: string): SQL<number | null> {
  return sql.raw(tightestPace(`devices.${column}`, `accounts.${column}`)) as SQL<number | null>
}

export async function findDevice(
  db: Pick<Database, 'select'>,
  accountId: number,
  locator: DeviceLocator,
  statusGraceMs: number,
): Promise<Device | undefined> {
  const [device] = await db
    .select({ ...columns, status: deviceStatus(statusGraceMs) })
    .from(devices)
    .innerJoin(accounts, eq(accounts.id, devices.accountId))
    .where(and(inAccount(accountId), located(locator)))
    .orderBy(desc(eq(devices.sender, locator.sender ?? '')))
    .limit(1)
  return device
}

/** By id. `after`: only those with a higher one. */
export async function listDevices(
  db: Database,
  accountId: number,
  statusGraceMs: number,
  page: { after?: number | undefined; status?: DeviceStatus | undefined; limit: number },
): Promise<Device[]> {
  const status = deviceStatus(statusGraceMs)
  return db
    .select({ ...columns, status })
    .from(devices)
    .innerJoin(accounts, eq(accounts.id, devices.accountId))
    .where(
      and(
        inAccount(accountId),
        gt(devices.id, page.after ?? 0),
        page.status === undefined ? undefined : sql`${status} = ${page.status}`,
      ),
    )
    .orderBy(asc(devices.id))
    .limit(page.limit)
}

export async function listLinkedDeviceIds(db: Database, accountId: number, limit: number): Promise<number[]> {
  const rows = await db
    .select({ id: devices.id })
    .from(devices)
    .where(and(inAccount(accountId), devices.hasCredentials))
    .limit(limit)
  return rows.map(({ id }) => id)
}

/** The WhatsApp addresses of all devices that have credentials. */
export async function listLinkedJids(db: Database): Promise<string[]> {
  const rows = await db.select({ jid: devices.waJid }).from(devices).where(eq(devices.hasCredentials, true))
  return rows.map(({ jid }) => jid ?? '')
}

export async function findSender(
  db: Database,
  accountId: number,
  sender: string,
): Promise<{ deviceId: number; sender: string; isLinked: boolean } | undefined> {
  const [found] = await db
    .select({ deviceId: devices.id, sender: devices.sender, isLinked })
    .from(devices)
    .where(and(inAccount(accountId), hasSender(sender)))
    .orderBy(desc(eq(devices.sender, sender)))
    .limit(1)
  return found
}

/** Null returns to the default. Omitted fields stay. Needs at least one field. */
export type DeviceSettings = {
  name?: string | undefined
  ratePerMinute?: number | null | undefined
  burst?: number | null | undefined
  dailyCap?: number | null | undefined
  newContactsPerDay?: number | null | undefined
}

/** False when nothing has changed. */
export async function setDevice(
  db: Pick<Database, 'update'>,
  accountId: number,
  deviceId: number,
  settings: DeviceSettings,
): Promise<boolean> {
  const differences = (Object.keys(settings) as (keyof DeviceSettings)[]).flatMap((name) =>
    settings[name] === undefined ? [] : [sql`${devices[name]} IS DISTINCT FROM ${settings[name]}`],
  )
  const changed = await db
    .update(devices)
    .set(settings)
    .where(and(isDevice(accountId, deviceId), or(...differences)))
    .returning({ id: devices.id })
  return changed.length > 0
}

export type NewDevice = { sender: string; name: string; cmsId: string | null; cmsVer: string | null }

/**
 * `exists` when this account already has the sender, which is not changed. The account row is locked, so that concurrent
 * requests cannot exceed the limit.
 */
export async function createDevice(
  db: Pick<Database, 'transaction'>,
  accountId: number,
  device: NewDevice,
): Promise<'created' | 'exists' | 'limit_reached'> {
  return db.transaction(async (tx) => {
    const [account] = await tx
      .select({ devicesAllowed: accounts.devicesAllowed })
      .from(accounts)
      .where(eq(accounts.id, accountId))
      .for('no key update')
    const own = inAccount(accountId)
    const [existing] = await tx
      .select({ id: devices.id })
      .from(devices)
      .where(and(own, hasSender(device.sender)))
    if (existing) return 'exists'
    if ((await tx.$count(devices, own)) >= (account?.devicesAllowed ?? 0)) return 'limit_reached'
    // The shard is computed from the id, so the id comes from the sequence before the row is inserted.
    await tx.execute(sql`
      INSERT INTO ${devices} (id, shard, account_id, sender, name, cms_id, cms_ver)
      SELECT next.id, next.id % ${installation.shards}, ${accountId}::int, ${device.sender}::text,
        ${device.name}::text, ${device.cmsId}::text, ${device.cmsVer}::text
      FROM ${installation}, nextval('devices_id_seq') AS next (id)`)
    return 'created'
  })
}

function located({ deviceId, sender }: DeviceLocator): SQL | undefined {
  if (deviceId === undefined && sender === undefined) return sql`false`
  return and(
    deviceId === undefined ? undefined : eq(devices.id, deviceId),
    sender === undefined ? undefined : hasSender(sender),
  )
}

/** Of the subscriber, whichever form of the number the account has created it with. */
const hasSender = (sender: string): SQL => inArray(devices.sender, phoneForms(sender))
