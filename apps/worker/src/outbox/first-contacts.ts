import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { setNewChats, setRestriction } from '@wagate/db/queries/devices/device-restriction'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import {
  type NewChatCap,
  type NewChatCapInfo,
  type Restrictions,
  readNewChatCap,
  readTimeLock,
} from '../session/connection/restrictions.ts'
import { untilStored } from '../until-stored.ts'
import { makeNewContactPauses, type NewContactPauses, type Pause } from './new-contact-pauses.ts'

type Stored = Pick<DeviceState, 'restrictedMs' | 'restrictionReason' | 'cappedMs'>

/** Whether WhatsApp lets a device write to new contacts. It outlives a connection, and is stored for the next owner. */
export type FirstContacts = Pick<NewContactPauses, 'areActive' | 'reason' | 'isLocked' | 'isCapped'> & {
  /** Takes over what was stored, unless WhatsApp has said something about it since `sinceMs`. */
  load(stored: Stored, sinceMs: number): void
  /** This and the pauses take effect at once, and resolve when they are stored. */
  note(restrictions: Restrictions): Promise<void>
  /** Resolves when what was noted so far is stored, or cannot be. */
  untilStored(): Promise<unknown>
  /** After error 463 that WhatsApp does not explain. */
  pauseLocked(): Promise<void>
  /** After error 475. WhatsApp may have said what it counts. */
  pauseCapped(info: NewChatCapInfo | null | undefined): Promise<void>
  /** For the time of a question to WhatsApp. Ends with its answer. */
  hold(ms: number): void
  /** Returns the function that ends the subscription. */
  onChange(listener: () => void): () => void
}

const unknownCap: NewChatCap = { used: null, total: null, isCapped: true }

export function makeFirstContacts(
  { config, db, logger, metrics }: Pick<DeviceContext, 'config' | 'db' | 'logger' | 'metrics'>,
  lease: Lease,
  deviceId: number,
): FirstContacts {
  const { restrictionPauseMs } = config.outbox
  const pauses = makeNewContactPauses()
  const listeners = new Set<() => void>()
  const notedAtMs = { lock: Number.NEGATIVE_INFINITY, cap: Number.NEGATIVE_INFINITY }
  let isLoaded = false
  let stored: Promise<unknown> = Promise.resolve()

  function announce(): void {
    for (const listener of [...listeners]) listener()
  }

  async function change(pause: Pause | undefined, store: () => Promise<void>): Promise<void> {
    pauses.endHold()
    if (pause) {
      metrics.restrictions.inc({ reason: pause.reason })
      const forMs = Math.round(msUntil(pause))
      logger.warn({ deviceId, reason: pause.reason, forMs }, 'WhatsApp restricted messages to new contacts')
    }
    announce()
    // In the order in which WhatsApp has said it.
    const storing = stored.then(() => untilStored(store, lease, logger))
    stored = storing.catch(() => undefined)
    await storing
  }

  async function setLock(pause: Pause | undefined): Promise<void> {
    notedAtMs.lock = performance.now()
    const isNews = pauses.lock(pause)
    if (isNews || !isLoaded) {
      return change(pause, () =>
        setRestriction(db, lease, deviceId, pause && { reason: pause.reason, forMs: msUntil(pause) }),
      )
    }
    if (pauses.endHold()) announce()
    await stored
  }

  function setCap({ isCapped, forMs = restrictionPauseMs, used, total }: NewChatCap): Promise<void> {
    notedAtMs.cap = performance.now()
    const until = pauses.lasting('new_chat_cap', forMs)
    const pause = isCapped ? until : undefined
    pauses.cap(pause)
    return change(pause, () =>
      setNewChats(db, lease, deviceId, { used, total, isCapped, forMs: msUntil(until) }),
    )
  }

  return {
    areActive: pauses.areActive,
    reason: pauses.reason,
    isLocked: pauses.isLocked,
    isCapped: pauses.isCapped,
    load({ restrictedMs, restrictionReason, cappedMs }, sinceMs) {
      isLoaded = true
      const reason = restrictionReason ?? 'unconfirmed'
      const lock = restrictedMs > 0 ? pauses.lasting(reason, restrictedMs) : undefined
      const cap = cappedMs > 0 ? pauses.lasting('new_chat_cap', cappedMs) : undefined
      if (notedAtMs.lock < sinceMs) pauses.lock(lock)
      if (notedAtMs.cap < sinceMs) pauses.cap(cap)
    },
    async note({ timeLock, newChatCap }) {
      const lock = timeLock && readTimeLock(timeLock, Date.now())
      const cap = readNewChatCap(newChatCap, Date.now())
      const pause = lock?.isActive
        ? pauses.lasting('reach_out_time_lock', lock.forMs ?? restrictionPauseMs)
        : undefined
      await Promise.all([lock && setLock(pause), cap && setCap(cap)])
    },
    untilStored: () => stored,
    pauseLocked: () => setLock(pauses.lasting('unconfirmed', restrictionPauseMs)),
    pauseCapped(info) {
      const cap = readNewChatCap(info, Date.now())
      // If WhatsApp contradicts its own refusal, the end of the cycle is of no use.
      return setCap(
        cap?.isCapped ? cap : { ...unknownCap, used: cap?.used ?? null, total: cap?.total ?? null },
      )
    },
    hold(ms) {
      pauses.hold(ms)
      announce()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

function msUntil({ untilMs }: Pause): number {
  return Math.max(0, untilMs - performance.now())
}
