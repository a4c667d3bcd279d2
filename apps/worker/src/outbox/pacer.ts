import type { Pacing } from '@wagate/shared/pacing'
import { dayMs, makeDayCount, type SentToday } from './day-count.ts'

/** Says when the next message of a sender may go. Messages are known by their WhatsApp ids. */
export type Pacer = {
  /** How long to wait, 0 when this message may go now (and then counts it). */
  take(waId: string): number
  /** What was taken was not sent after all. */
  giveBack(waId: string): void
  /** WhatsApp has answered for it: if it goes once more, it counts once more. */
  settle(waId: string): void
  /** New settings count from now on. */
  set(pacing: Pacing): void
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

/** A token bucket with some slack for messages that are late, and a budget for each day of UTC. */
export function makePacer(pacing: Pacing, sentToday: SentToday, clock: Clock = systemClock): Pacer {
  let { ratePerMinute, burst, dailyCap } = pacing
  let tokens = burst
  let countedAtMs = clock.steadyMs()
  let notBeforeMs = 0
  const count = makeDayCount(sentToday, clock.dateMs)

  function refill(nowMs: number): void {
    const earned = ((nowMs - countedAtMs) / 60_000) * ratePerMinute
    tokens = Math.min(burst + jitter, tokens + earned)
    countedAtMs = nowMs
  }

  function untilPlaceInDay(waId: string): number {
    if (dailyCap === 0 || count.has(waId) || count.total() < dailyCap) return 0
    return dayMs - (clock.dateMs() % dayMs)
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
    take(waId) {
      const waitMs = Math.ceil(Math.max(untilPlaceInDay(waId), untilNextToken()))
      if (waitMs > 0) return waitMs
      if (ratePerMinute > 0) tokens -= 1
      count.add(waId)
      return 0
    },
    giveBack(waId) {
      tokens = Math.min(burst + jitter, tokens + 1)
      count.remove(waId)
    },
    settle: count.settle,
    set(next) {
      refill(clock.steadyMs())
      ;({ ratePerMinute, burst, dailyCap } = next)
      tokens = Math.min(tokens, burst)
      notBeforeMs = 0
    },
  }
}
