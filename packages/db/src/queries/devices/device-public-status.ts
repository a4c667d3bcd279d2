import type { DeviceStatus, PasskeyStep, StatusReason } from '@wagate/shared/statuses'
import { type SQL, sql } from 'drizzle-orm'
import { devices } from '../../schema/devices.ts'
import { shardLeases, workers } from '../../schema/workers.ts'
import { isRunning } from '../statements/worker-state.ts'
import { isLinked } from './linked-device.ts'

export const hasLiveOwner = sql<boolean>`EXISTS (
  SELECT FROM ${shardLeases} JOIN ${workers} ON ${workers.id} = ${shardLeases.owner}
  WHERE ${shardLeases.shard} = ${devices.shard} AND ${sql.raw(isRunning('workers'))})`

/** It dies with the connection of its owner. */
export const pairingStep = sql<PasskeyStep | null>`CASE
  WHEN ${devices.pairingUntil} > now() AND ${hasLiveOwner} THEN ${devices.pairingStep} END`

/**
 * The only place that derives the reported status. A device that loses its connection stays `connected` for the grace
 * period while its owner reconnects. Without a live owner no device is connected.
 */
export function deviceStatus(statusGraceMs: number): SQL<DeviceStatus> {
  return sql<DeviceStatus>`CASE
    WHEN ${devices.desired} = 'unlinked' THEN 'disconnected'
    WHEN ${isLinked} THEN CASE
      WHEN (${devices.connection} = 'online'
        OR ${devices.offlineSince} > now() - ${statusGraceMs}::float8 * interval '1 ms') AND ${hasLiveOwner}
      THEN 'connected' ELSE 'disconnected' END
    WHEN ${devices.pairingUntil} > now() THEN coalesce(${pairingStep}, 'scanning')
    ELSE 'disconnected' END`
}

const [qrExpired, passkeyExpired]: StatusReason[] = ['qr_expired', 'passkey_expired']

/** A pairing that is over has its reason at once, not only when its owner has ended it. */
export const deviceStatusReason = sql<string | null>`CASE
  WHEN ${devices.desired} = 'linked' AND ${devices.pairingUntil} <= now() AND NOT ${isLinked}
    THEN CASE WHEN ${devices.pairingStep} IS NULL THEN ${qrExpired} ELSE ${passkeyExpired} END
  ELSE ${devices.statusReason} END`
