import type { Database } from '@wagate/db/client'
import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { setNewChats, setRestriction } from '@wagate/db/queries/devices/device-restriction'
import type { Logger } from '@wagate/runtime/logger'
import type { RestrictionReason } from '@wagate/shared/statuses'
import type { Config } from '../config/config.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Lease } from '../ownership/lease.ts'
import {
  type NewChatCap,
  type NewChatCapInfo,
  type Restrictions,
  readNewChatCap,
  readTimeLock,
} from '../session/connection/restrictions.ts'
import { untilStored } from '../statements/until-stored.ts'
import { makeListeners } from './listeners.ts'

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

type Context = { config: Pick<Config, 'outbox'>; db: Database; logger: Logger; metrics: Metrics }

export function makeFirstContacts(
  { config, db, logger, metrics }: Context,
  lease: Lease,
  deviceId: number,
): FirstContacts {
  const { restrictionPauseMs } = config.outbox
  const pauses = makeNewContactPauses()
  const { call: tell, onChange } = makeListeners()
  const notedAtMs = { lock: Number.NEGATIVE_INFINITY, cap: Number.NEGATIVE_INFINITY }
  let isLoaded = false
  let stored: Promise<unknown> = Promise.resolve()

  function announce(): void {
    tell()
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
    onChange,
  }
}

function msUntil({ untilMs }: Pause): number {
  return Math.max(0, untilMs - performance.now())
}

type Pause = { reason: RestrictionReason; untilMs: number }

/**
 * Why messages to new contacts wait. A time-lock and a used-up cap are independent: each is enough. A hold is for the time
 * of a question to WhatsApp.
 */
export type NewContactPauses = {
  areActive(): boolean
  /** Of the restriction that lasts longest, if there is one. */
  reason(): RestrictionReason | undefined
  isLocked(): boolean
  isCapped(): boolean
  /** From now on. */
  lasting(reason: RestrictionReason, forMs: number): Pause
  /** False when this was known: WhatsApp tells some things twice. Undefined ends the lock. */
  lock(pause: Pause | undefined): boolean
  cap(pause: Pause | undefined): void
  hold(forMs: number): void
  /** False when nothing was paused. */
  endHold(): boolean
}

/** WhatsApp gives whole seconds. */
const sameMs = 1500

export function makeNewContactPauses(nowMs: () => number = () => performance.now()): NewContactPauses {
  let locked: Pause | undefined
  let capped: Pause | undefined
  let pausedUntilMs = Number.NEGATIVE_INFINITY

  const isActive = (pause: Pause | undefined): pause is Pause =>
    pause !== undefined && nowMs() < pause.untilMs

  function isKnown(pause: Pause | undefined): boolean {
    if (!pause || !isActive(locked)) return !pause && !isActive(locked)
    return pause.reason === locked.reason && Math.abs(pause.untilMs - locked.untilMs) < sameMs
  }

  return {
    areActive: () => nowMs() < pausedUntilMs || isActive(locked) || isActive(capped),
    reason() {
      const active = [locked, capped].filter(isActive)
      return active.sort((one, other) => other.untilMs - one.untilMs)[0]?.reason
    },
    isLocked: () => isActive(locked),
    isCapped: () => isActive(capped),
    lasting: (reason, forMs) => ({ reason, untilMs: nowMs() + forMs }),
    lock(pause) {
      if (isKnown(pause)) return false
      locked = pause
      return true
    },
    cap(pause) {
      capped = pause
    },
    hold(forMs) {
      pausedUntilMs = nowMs() + forMs
    },
    endHold() {
      const wasPaused = nowMs() < pausedUntilMs
      pausedUntilMs = Number.NEGATIVE_INFINITY
      return wasPaused
    },
  }
}
