import type { Database } from '../client.ts'
import { expectOwner, type Fence, fenceOf } from './fence.ts'

type Connection = 'offline' | 'connecting' | 'scanning' | 'online'

/** No login while all of these that are not null hold. At least one of them is not. */
type LoginBlock = {
  /** For this long from now. */
  forMs: number | null
  /** While the desired state has this revision. */
  rev: number | null
  /** While the client has this version. */
  version: string | null
}

export type ConnectionChange = {
  connection: Connection
  reason: string | null
  /** What WhatsApp said besides the reason. */
  detail?: string | null
  /** False: the device is reported as disconnected at once, until it is online again. */
  hasGrace?: boolean
  /** Of `online`: that of the device when the login began. */
  sessionRev?: number
  /** Without one, an earlier block ends. */
  block?: LoginBlock
}

const noBlock: LoginBlock = { forMs: null, rev: null, version: null }

export async function setConnection(
  db: Database,
  fence: Fence,
  deviceId: number,
  { connection, reason, detail = null, hasGrace = true, sessionRev = 0, block = noBlock }: ConnectionChange,
): Promise<void> {
  const isOnline = connection === 'online'
  await expectOwner(
    fence,
    db.$client`
    WITH fence AS (${fenceOf(db.$client, fence)})
    UPDATE devices SET connection = ${connection}, status_reason = ${reason}, status_detail = ${detail},
      pairing_step = NULL, login_after = now() + ${block.forMs}::float8 * interval '1 ms',
      login_blocked_rev = ${block.rev}, login_blocked_version = ${block.version},
      offline_since = CASE WHEN ${isOnline} OR NOT has_credentials THEN NULL
        WHEN ${hasGrace} THEN coalesce(offline_since, now()) ELSE 'epoch' END,
      connected_session_rev = CASE WHEN ${isOnline} THEN ${sessionRev} ELSE connected_session_rev END,
      last_seen_at = CASE WHEN ${isOnline} THEN now() ELSE last_seen_at END
    FROM fence WHERE id = ${deviceId} RETURNING id`,
  )
}
