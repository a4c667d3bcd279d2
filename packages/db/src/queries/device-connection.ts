import type { Database } from '../client.ts'
import { expectOwner, type Fence, fenceOf } from './fence.ts'

type Connection = 'offline' | 'connecting' | 'scanning' | 'online'

/** Without a grace the device is reported as disconnected at once, until it is online again. */
export async function setConnection(
  db: Database,
  fence: Fence,
  deviceId: number,
  {
    connection,
    reason,
    hasGrace = true,
  }: { connection: Connection; reason: string | null; hasGrace?: boolean },
): Promise<void> {
  const isOnline = connection === 'online'
  await expectOwner(
    fence,
    db.$client`
    WITH fence AS (${fenceOf(db.$client, fence)})
    UPDATE devices SET connection = ${connection}, status_reason = ${reason},
      offline_since = CASE WHEN ${isOnline} OR NOT has_credentials THEN NULL
        WHEN ${hasGrace} THEN coalesce(offline_since, now()) ELSE 'epoch' END,
      last_seen_at = CASE WHEN ${isOnline} THEN now() ELSE last_seen_at END
    FROM fence WHERE id = ${deviceId} RETURNING id`,
  )
}
