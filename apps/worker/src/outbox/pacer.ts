import type { Pacing } from '@wagate/shared/pacing'

/** Says when the next message of a sender may go. */
export type Pacer = {
  /** How long to wait, 0 when a message may go now (and then counts it). */
  take(): number
  /** What was taken was not sent after all. */
  giveBack(): void
  /** New settings count from now on; `sentToday` is what the day has seen so far. */
  set(pacing: Pacing, sentToday: number): void
}

/** `steadyMs` only moves forward, `dateMs` is the time of day; `random` is from 0 to 1. */
export type Clock = { steadyMs(): number; dateMs(): number; random(): number }

const systemClock: Clock = {
  steadyMs: () => performance.now(),
  dateMs: () => Date.now(),
  random: Math.random,
}

/**
 * By how much of the time between two messages one may be late, at random: a sender that keeps the beat looks like
 * what it is. What it is late is made up by the next, so the rate is kept.
 */
const jitter = 0.5
const dayMs = 86_400_000

/** A token bucket with some slack for messages that are late, and a budget for each day of UTC. */
export function makePacer(pacing: Pacing, sentToday: number, clock: Clock = systemClock): Pacer {
  let { ratePerMinute, burst, dailyCap } = pacing
  let tokens = burst
  let countedAtMs = clock.steadyMs()
  let notBeforeMs = 0
  let day = today()
  let sent = sentToday

  function today(): number {
    return Math.floor(clock.dateMs() / dayMs)
  }

  function refill(nowMs: number): void {
    const earned = ((nowMs - countedAtMs) / 60_000) * ratePerMinute
    tokens = Math.min(burst + jitter, tokens + earned)
    countedAtMs = nowMs
  }

  function untilNextDay(): number {
    if (today() !== day) {
      day = today()
      sent = 0
    }
    return dailyCap > 0 && sent >= dailyCap ? (day + 1) * dayMs - clock.dateMs() : 0
  }

  function untilNextToken(): number {
    if (ratePerMinute === 0) return 0
    const nowMs = clock.steadyMs()
    refill(nowMs)
    if (nowMs >= notBeforeMs && tokens < 1) {
      notBeforeMs = nowMs + ((1 - tokens + clock.random() * jitter) * 60_000) / ratePerMinute
    }
    return Math.max(0, notBeforeMs - nowMs)
  }

  return {
    take() {
      const waitMs = Math.ceil(Math.max(untilNextDay(), untilNextToken()))
      if (waitMs > 0) return waitMs
      if (ratePerMinute > 0) tokens -= 1
      sent += 1
      return 0
    },
    giveBack() {
      tokens = Math.min(burst + jitter, tokens + 1)
      sent = Math.max(0, sent - 1)
    },
    set(next, nextSentToday) {
      refill(clock.steadyMs())
      ;({ ratePerMinute, burst, dailyCap } = next)
      tokens = Math.min(tokens, burst)
      notBeforeMs = 0
      day = today()
      sent = nextSentToday
    },
  }
}
