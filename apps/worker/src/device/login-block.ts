import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'

export type BlockFacts = Pick<DeviceState, 'desiredRev' | 'blockLeftMs' | 'blockRev' | 'blockVersion'>

/** For how long a client of this version must not log in, as Postgres says: 0 when it may, infinite without an end. */
export function blockedMs(
  { desiredRev, blockLeftMs, blockRev, blockVersion }: BlockFacts,
  version: string,
): number {
  const isBlocked = blockLeftMs !== null || blockRev !== null || blockVersion !== null
  if (!isBlocked) return 0
  if (blockRev !== null && blockRev !== desiredRev) return 0
  if (blockVersion !== null && blockVersion !== version) return 0
  return Math.max(0, blockLeftMs ?? Number.POSITIVE_INFINITY)
}

/** The number itself is banned: neither another step of the user nor another client may log it in. */
export function isNumberBanned({ blockLeftMs, blockRev, blockVersion }: BlockFacts): boolean {
  return blockRev === null && blockVersion === null && blockLeftMs !== null && blockLeftMs > 0
}
