import type { Device } from '@wagate/db/queries/devices/devices'
import type { RestrictionReason } from '@wagate/shared/statuses'

type Stored = Pick<
  Device,
  | 'restrictedUntil'
  | 'restrictionReason'
  | 'newChatsUsed'
  | 'newChatsTotal'
  | 'newChatsCapped'
  | 'newChatsUntil'
>

type RestrictionFields = {
  restricted_until?: string
  restriction_reason?: RestrictionReason
  new_chats_used?: number
  new_chats_total?: number
}

/** Of the restrictions in force, the one that lasts longest. */
export function restrictionFieldsOf(device: Stored, nowMs: number): RestrictionFields {
  const { restrictedUntil, restrictionReason, newChatsUsed, newChatsTotal, newChatsCapped, newChatsUntil } =
    device
  const isComing = (moment: Date | null): moment is Date => moment !== null && moment.getTime() > nowMs
  const ends: { until: Date; reason: RestrictionReason | null }[] = []
  if (isComing(restrictedUntil)) ends.push({ until: restrictedUntil, reason: restrictionReason })
  if (newChatsCapped && isComing(newChatsUntil)) ends.push({ until: newChatsUntil, reason: 'new_chat_cap' })
  const [last] = ends.sort((one, other) => other.until.getTime() - one.until.getTime())
  const isCounted = newChatsUsed !== null && newChatsTotal !== null && isComing(newChatsUntil)
  return {
    ...(last && { restricted_until: last.until.toISOString() }),
    ...(last?.reason && { restriction_reason: last.reason }),
    ...(isCounted && { new_chats_used: newChatsUsed, new_chats_total: newChatsTotal }),
  }
}
