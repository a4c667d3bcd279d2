import type { DeviceStatus } from '@wagate/shared/statuses'
import { and, asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { accounts, devices, installation } from '../schema.ts'
import { deviceStatus } from './device-status.ts'

export type Device = typeof devices.$inferSelect & { status: DeviceStatus }

/** One of the two, or both, which then must agree. */
export type DeviceLocator = { deviceId?: number | undefined; sender?: string | undefined }

export async function findDevice(
  db: Database,
  accountId: number,
  locator: DeviceLocator,
  statusGraceMs: number,
): Promise<Device | undefined> {
  const [device] = await db
    .select({ ...getTableColumns(devices), status: deviceStatus(statusGraceMs) })
    .from(devices)
    .where(and(eq(devices.accountId, accountId), located(locator)))
  return device
}

export async function listDevices(db: Database, accountId: number, statusGraceMs: number): Promise<Device[]> {
  return db
    .select({ ...getTableColumns(devices), status: deviceStatus(statusGraceMs) })
    .from(devices)
    .where(eq(devices.accountId, accountId))
    .orderBy(asc(devices.id))
}

export type NewDevice = { sender: string; name: string; cmsId: string | null; cmsVer: string | null }

/**
 * `exists` when this account already has the sender: its record is not changed and not charged.
 * Two requests cannot both take the last place: the account row is locked.
 */
export async function createDevice(
  db: Database,
  accountId: number,
  device: NewDevice,
): Promise<'created' | 'exists' | 'limit_reached'> {
  return db.transaction(async (tx) => {
    const [account] = await tx
      .select({ devicesAllowed: accounts.devicesAllowed })
      .from(accounts)
      .where(eq(accounts.id, accountId))
      .for('no key update')
    const own = eq(devices.accountId, accountId)
    const [existing] = await tx
      .select({ id: devices.id })
      .from(devices)
      .where(and(own, eq(devices.sender, device.sender)))
    if (existing) return 'exists'
    if ((await tx.$count(devices, own)) >= (account?.devicesAllowed ?? 0)) return 'limit_reached'
    // The shard follows from the id, so the id is drawn before the row is written.
    await tx.execute(sql`
      INSERT INTO ${devices} (id, shard, account_id, sender, name, cms_id, cms_ver)
      SELECT drawn.id, drawn.id % ${installation.shards}, ${accountId}::int, ${device.sender}::text,
        ${device.name}::text, ${device.cmsId}::text, ${device.cmsVer}::text
      FROM ${installation}, nextval('devices_id_seq') AS drawn (id)`)
    return 'created'
  })
}

function located({ deviceId, sender }: DeviceLocator): SQL | undefined {
  if (deviceId === undefined && sender === undefined) return sql`false`
  return and(
    deviceId === undefined ? undefined : eq(devices.id, deviceId),
    sender === undefined ? undefined : eq(devices.sender, sender),
  )
}
