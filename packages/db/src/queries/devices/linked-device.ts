import { type SQL, sql } from 'drizzle-orm'
import type postgres from 'postgres'

/** A device is linked when it has credentials that are still wanted. It accepts messages, connected or not. */
function linked(device: string): string {
  return `(${device}.desired = 'linked' AND ${device}.has_credentials
    AND ${device}.link_generation > ${device}.revoked_generation)`
}

/** For the query builder. */
export const isLinked: SQL<boolean> = sql<boolean>`${sql.raw(linked('devices'))}`

/** For SQL in which the device has this name, or is this composite. */
export function isLinkedIn(client: postgres.Sql, device: 'device' | 'devices' | '(before.was)') {
  return client.unsafe(linked(device))
}
