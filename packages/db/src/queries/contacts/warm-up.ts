import type postgres from 'postgres'
import { isLately } from './contacts.ts'

/** A link within this time after the former one goes on with its warm-up. */
const relinkDays = 30

const isRelink = (sql: postgres.Sql, device: string) => sql`
  ${sql(device)}.link_generation > 0 AND (
    ${sql(device)}.has_credentials
    OR (${sql(device)}.unlinked_at >= now() - ${relinkDays} * interval '1 day') IS NOT FALSE)`

/** SQL: what the account has deleted of the sender of this device. To be named `former`. */
export const formerDevices = (sql: postgres.Sql, deviceId: number) => sql`
  SELECT former.id,
    CASE WHEN ${isRelink(sql, 'former')} THEN coalesce(former.warm_up_from, former.created_at) END AS warm_up_from
  FROM devices AS device JOIN devices AS former USING (account_id, sender)
  WHERE device.id = ${deviceId} AND former.deleted_at IS NOT NULL`

/** SQL: counts the new contacts of the `former` devices for this one, in a statement that has the `fence`. */
export const contactsOfFormer = (sql: postgres.Sql, deviceId: number) => sql`
  INSERT INTO new_contacts (device_id, number, created_at)
  SELECT ${deviceId}::int, number, max(created_at)
  FROM new_contacts JOIN former ON former.id = device_id CROSS JOIN fence
  WHERE ${isLately(sql)} GROUP BY number
  ON CONFLICT ON CONSTRAINT new_contacts_pk
    DO UPDATE SET created_at = greatest(new_contacts.created_at, excluded.created_at)`

/** SQL: when the warm-up of the link that is being stored began, for an UPDATE of devices beside `former`. */
export const warmUpOfLink = (sql: postgres.Sql) => sql`
  CASE WHEN ${isRelink(sql, 'devices')} THEN coalesce(devices.warm_up_from, devices.created_at)
    ELSE coalesce((SELECT min(warm_up_from) FROM former), now()) END`

/** SQL: the first day of the warm-up of the row `device`, in UTC days since 1970. */
export const warmUpDay = (sql: postgres.Sql) => sql`
  floor(extract(epoch FROM coalesce(device.warm_up_from, device.created_at)) / 86400)::int`
