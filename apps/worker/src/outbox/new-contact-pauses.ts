import type { RestrictionReason } from '@wagate/shared/statuses'

export type Pause = { reason: RestrictionReason; untilMs: number }

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
