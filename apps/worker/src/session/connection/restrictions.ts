import type { NewChats } from '@wagate/db/queries/devices/device-restriction'
import type { NewChatMessageCapInfo, ReachoutTimelockState } from 'baileys'

/** As WhatsApp writes it. */
export type NewChatCapInfo = NewChatMessageCapInfo

/** What WhatsApp says about a sender, asked or not. */
export type Restrictions = {
  timeLock?: ReachoutTimelockState | undefined
  newChatCap?: NewChatMessageCapInfo | undefined
}

/** Whether WhatsApp forbids a sender to write to new contacts. Without `forMs` WhatsApp does not say for how long. */
export type TimeLock = { isActive: boolean; forMs?: number }

/** Without `forMs` WhatsApp does not say when the cycle ends. */
export type NewChatCap = Omit<NewChats, 'forMs'> & { forMs?: number }

/** Longer than any restriction: a wrong time must not stop a sender permanently. */
const forMsMax = 366 * 86_400_000

/** The type of a lock is ignored: there are unknown ones, and one of them means "none" and comes with active locks too. */
export function readTimeLock(
  { isActive, timeEnforcementEnds }: ReachoutTimelockState,
  nowMs: number,
): TimeLock {
  return { isActive: Boolean(isActive), ...untilFrom(timeEnforcementEnds?.getTime(), nowMs) }
}

/** WhatsApp writes numbers as text in some answers. A negative total means that there is no cap. */
export function readNewChatCap(
  info: NewChatMessageCapInfo | null | undefined,
  nowMs: number,
): NewChatCap | undefined {
  if (!info) return undefined
  const [used, total] = [countOf(info.used_quota), countOf(info.total_quota)]
  const hasQuota = used !== null && total !== null
  return {
    used: hasQuota ? used : null,
    total: hasQuota ? total : null,
    isCapped: info.capping_status === 'CAPPED' || (hasQuota && used >= total),
    ...untilFrom(momentOf(info.cycle_end_timestamp), nowMs),
  }
}

function untilFrom(endMs: number | undefined, nowMs: number): { forMs?: number } {
  const forMs = (endMs ?? Number.NaN) - nowMs
  return forMs > 0 ? { forMs: Math.min(forMs, forMsMax) } : {}
}

function countOf(value: unknown): number | null {
  const count = value == null || value === '' ? Number.NaN : Number(value)
  return Number.isInteger(count) && count >= 0 && count <= 2 ** 31 - 1 ? count : null
}

/** In ms. WhatsApp gives whole seconds. */
function momentOf(value: unknown): number | undefined {
  const seconds = Number(value)
  if (!(seconds > 0)) return undefined
  return seconds < 1e11 ? seconds * 1000 : seconds
}
