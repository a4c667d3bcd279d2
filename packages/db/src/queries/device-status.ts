import type { DeviceStatus } from '@wagate/shared/statuses'
import { type SQL, sql } from 'drizzle-orm'
import type postgres from 'postgres'
import { devices, shardLeases, workers } from '../schema.ts'

/** Credentials exist and are meant to: sends are accepted, whatever the socket does at the moment. */
export const isLinked = sql<boolean>`(${devices.desired} = 'linked' AND ${devices.hasCredentials}
  AND ${devices.linkGeneration} > ${devices.revokedGeneration})`

/** The same rule for statements that are written for postgres.js, where the table has this name. */
export function isLinkedIn(sql: postgres.Sql, table: 'device' | 'devices') {
  const device = sql(table)
  return sql`(${device}.desired = 'linked' AND ${device}.has_credentials
    AND ${device}.link_generation > ${device}.revoked_generation)`
}

/** A worker holds the device's shard with a lease that has not lapsed. */
export const hasLiveOwner = sql<boolean>`EXISTS (
  SELECT FROM ${shardLeases} JOIN ${workers} ON ${workers.id} = ${shardLeases.owner}
  WHERE ${shardLeases.shard} = ${devices.shard} AND ${workers.state} <> 'dead' AND ${workers.leaseUntil} > now())`

/**
 * The only place that derives what is reported. A socket that is lost stays `connected` for the grace while its
 * owner reconnects; without a live owner nothing is connected.
 */
export function deviceStatus(statusGraceMs: number): SQL<DeviceStatus> {
  return sql<DeviceStatus>`CASE
    WHEN ${devices.desired} = 'unlinked' THEN 'disconnected'
    WHEN ${isLinked} THEN CASE
      WHEN (${devices.connection} = 'online'
        OR ${devices.offlineSince} > now() - ${statusGraceMs}::float8 * interval '1 ms') AND ${hasLiveOwner}
      THEN 'connected' ELSE 'disconnected' END
    WHEN ${devices.pairingUntil} > now() THEN 'scanning'
    ELSE 'disconnected' END`
}
