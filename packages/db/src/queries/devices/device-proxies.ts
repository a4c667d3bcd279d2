import { eq, sql } from 'drizzle-orm'
import type { Database } from '../../client.ts'
import { deviceProxies, devices } from '../../schema/devices.ts'
import { isDevice } from './devices.ts'

/** `shown`: without user name and password. `sealed`: the whole URL, which only workers can open. */
export type DeviceProxy = { shown: string; sealed: Buffer }

/** Null removes it. Makes the owner of the device connect again, also one whose connection has just begun. */
export async function setProxy(
  db: Pick<Database, 'update' | 'insert' | 'delete'>,
  accountId: number,
  deviceId: number,
  proxy: DeviceProxy | null,
): Promise<void> {
  const changed = await db
    .update(devices)
    .set({ sessionRev: sql`${devices.sessionRev} + 1` })
    .where(isDevice(accountId, deviceId))
    .returning({ id: devices.id })
  if (changed.length === 0) return
  if (!proxy) {
    await db.delete(deviceProxies).where(eq(deviceProxies.deviceId, deviceId))
    return
  }
  await db
    .insert(deviceProxies)
    .values({ deviceId, ...proxy })
    .onConflictDoUpdate({ target: deviceProxies.deviceId, set: proxy })
}
