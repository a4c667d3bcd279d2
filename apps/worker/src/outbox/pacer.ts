import type { Pacing } from '@wagate/shared/pacing'

/** Says when the next message of a sender may go. Messages are known by their WhatsApp ids. */
export type Pacer = {
  /** Returns 0 when this message may leave now, and counts it; otherwise how many ms to wait before asking again. */
  acquire(waId: string): number
  /** The message did not leave after all. */
  release(waId: string): void
  /** WhatsApp has answered for it: from now on it counts as sent, and another send of it counts again. */
  confirm(waId: string): void
  /** The sender has sent what it may send today. */
  isCapped(): boolean
  /** Applies new settings from now on. */
  set(pacing: Pacing): void
}

/** `steadyMs` is monotonic, `dateMs` is the time of day, `random` is from 0 to 1. */
export type Clock = { steadyMs(): number; dateMs(): number; random(): number }

export const systemClock: Clock = {
  steadyMs: () => performance.now(),
  dateMs: () => Date.now(),
  random: Math.random,
}

/**
 * The share of the time between two messages by which one may be late, at random: perfectly even timing looks
 * automated. The next message makes up for the delay, so the rate is kept.
 */
const jitter = 0.5

/** A token bucket with some slack for late messages, and a budget for each UTC day. */
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

  function untilDayHasRoom(waId: string): number {
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
    acquire(waId) {
      const waitMs = Math.ceil(Math.max(untilDayHasRoom(waId), untilNextToken()))
      if (waitMs > 0) return waitMs
      if (ratePerMinute > 0) tokens -= 1
      count.add(waId)
      return 0
    },
    release(waId) {
      tokens = Math.min(burst + jitter, tokens + 1)
      count.remove(waId)
    },
    confirm: count.confirm,
    isCapped: () => dailyCap > 0 && count.total() >= dailyCap,
    set(next) {
      refill(clock.steadyMs())
      ;({ ratePerMinute, burst, dailyCap } = next)
      tokens = Math.min(tokens, burst)
      notBeforeMs = 0
    },
  }
}

/** What a sender has sent in the current UTC day, according to Postgres. */
export type SentToday = {
  sent: number
  /** WhatsApp ids of messages that were handed to WhatsApp and have no stored answer. */
  unanswered: string[]
}

/**
 * How many messages a sender has sent in the current UTC day. A message counts from the moment when it may leave, and
 * once however often it is sent again. Without an answer it also counts on the next day, where the answer may come.
 */
type DayCount = {
  total(): number
  has(waId: string): boolean
  add(waId: string): void
  /** This attempt did not leave. An earlier one still counts. */
  remove(waId: string): void
  /** WhatsApp has answered. */
  confirm(waId: string): void
}

const dayMs = 86_400_000

function makeDayCount(known: SentToday, dateMs: () => number): DayCount {
  /** The number of attempts by WhatsApp id. */
  const unanswered = new Map(known.unanswered.map((waId) => [waId, 1]))
  let answered = known.sent
  let day = today()

  function today(): number {
    return Math.floor(dateMs() / dayMs)
  }

  function startNewDay(): void {
    if (today() === day) return
    day = today()
    answered = 0
  }

  return {
    total() {
      startNewDay()
      return answered + unanswered.size
    },
    has: (waId) => unanswered.has(waId),
    add(waId) {
      unanswered.set(waId, (unanswered.get(waId) ?? 0) + 1)
    },
    remove(waId) {
      const attempts = (unanswered.get(waId) ?? 0) - 1
      if (attempts > 0) unanswered.set(waId, attempts)
      else unanswered.delete(waId)
    },
    confirm(waId) {
      startNewDay()
      if (unanswered.delete(waId)) answered += 1
    },
  }
}

/** Keeps messages of one sender to one person apart, by their lane. Outlives a connection. */
export type RecipientPace = {
  /** Ms until the next message may leave for this recipient. */
  waitMs(lane: string): number
  /** A message has left for this recipient. */
  noteSent(lane: string): void
  /** One lane has become another. */
  move(from: string, to: string): void
}

/** Per device. The oldest entries are dropped first, so the next messages to their recipients merely leave sooner. */
const recipientsMax = 10_000

/** `sentMsAgo`: how long ago the latest messages left, by recipient. With an interval of 0 nothing waits. */
export function makeRecipientPace(
  intervalMs: number,
  sentMsAgo: Record<string, number>,
  nowMs: () => number = () => performance.now(),
): RecipientPace {
  /** In the order of the times. */
  const sentAtMs = new Map(
    Object.entries(sentMsAgo)
      .sort(([, one], [, other]) => other - one)
      .map(([recipient, ms]) => [recipient, nowMs() - ms]),
  )

  function dropOldest(): void {
    for (const [recipient, atMs] of sentAtMs) {
      if (sentAtMs.size <= recipientsMax && nowMs() - atMs < intervalMs) return
      sentAtMs.delete(recipient)
    }
  }

  return {
    waitMs(recipient) {
      const atMs = sentAtMs.get(recipient) ?? Number.NEGATIVE_INFINITY
      return Math.max(0, atMs + intervalMs - nowMs())
    },
    noteSent(recipient) {
      sentAtMs.delete(recipient)
      sentAtMs.set(recipient, nowMs())
      dropOldest()
    },
    move(from, to) {
      const atMs = sentAtMs.get(from)
      if (atMs === undefined) return
      sentAtMs.delete(from)
      sentAtMs.set(to, Math.max(atMs, sentAtMs.get(to) ?? atMs))
    },
  }
}
