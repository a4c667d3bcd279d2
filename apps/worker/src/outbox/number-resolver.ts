import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import type { Logger } from '@wagate/runtime/logger'
import { phoneJid } from '@wagate/shared/contact-key'
import { LRUCache } from 'lru-cache'
import type { WASocket } from '../session/connection/socket.ts'
import { userOf } from '../session/contacts/jids.ts'
import { type LookUp, LookUpRefused, LookUpUnanswered } from '../session/contacts/look-up.ts'
import { isQueryLimit, watchQueryLimits } from '../session/contacts/query-limits.ts'

/** Finds out which of a device's recipients are on WhatsApp. It and its pauses outlive a connection. */
export type NumberResolver = {
  /** `undefined`: not known yet. `null`: not on WhatsApp. */
  find(number: string): string | null | undefined
  /** Ms until this number may be looked up: 0 unless a look-up failed recently. */
  waitMs(number: string): number
  /** Ms until anything may be looked up for this sender. */
  pausedMs(): number
  /** WhatsApp refused a look-up of devices, and asks to wait this long, or 0 if it does not say. */
  notePause(backoffMs: number): void
  /** WhatsApp answered a look-up of devices. */
  noteAnswered(): void
  /** Looks up the numbers that are unknown and need not wait. Throws when WhatsApp does not answer. */
  resolve(numbers: string[], lookUp: LookUp): Promise<void>
}

type Clock = { nowMs(): number; random(): number }

/** As many as one request of the API may check. */
export const numbersPerLookUp = 100
const numberPause = { firstMs: 5000, maxMs: 600_000 }
const senderPause = { firstMs: 2000, maxMs: 600_000 }
/** Per device. The oldest entries are dropped first, so their numbers are merely looked up sooner. */
const postponedMax = 10_000
/** Longer than WhatsApp's own limits: a wrong value must not stop look-ups permanently. */
const backoffMsMax = 86_400_000

export function makeNumberResolver(
  recipients: Recipients,
  clock: Clock = { nowMs: () => performance.now(), random: Math.random },
): NumberResolver {
  /** Numbers that WhatsApp gave no answer for. */
  const postponed = new Map<string, { failures: number; untilMs: number }>()
  let pausedUntilMs = 0
  let failures = 0

  function waitMs(number: string): number {
    const untilMs = Math.max(pausedUntilMs, postponed.get(number)?.untilMs ?? 0)
    return Math.max(0, untilMs - clock.nowMs())
  }

  function pause(backoffMs: number): void {
    failures += 1
    const growingMs = growingPauseMs(failures, senderPause, clock.random())
    pausedUntilMs = clock.nowMs() + Math.min(backoffMsMax, Math.max(backoffMs, growingMs))
  }

  function postpone(number: string): void {
    const failed = (postponed.get(number)?.failures ?? 0) + 1
    const pauseMs = growingPauseMs(failed, numberPause, clock.random())
    postponed.delete(number)
    postponed.set(number, { failures: failed, untilMs: clock.nowMs() + pauseMs })
    const [oldest] = postponed.keys()
    if (postponed.size > postponedMax && oldest !== undefined) postponed.delete(oldest)
  }

  async function ask(numbers: string[], lookUp: LookUp): Promise<void> {
    try {
      const answer = await lookUp(numbers)
      failures = 0
      for (const number of numbers) {
        const jid = answer.get(number)
        if (jid === undefined) postpone(number)
        else learn(number, jid)
      }
    } catch (error) {
      if (!isAboutNumbers(error)) {
        if (error instanceof LookUpRefused) pause(error.backoffMs)
        if (error instanceof LookUpUnanswered) pause(0)
        throw error
      }
      if (numbers.length === 1) return numbers.forEach(postpone)
      // A single bad number can make WhatsApp refuse the whole query.
      const half = Math.ceil(numbers.length / 2)
      await ask(numbers.slice(0, half), lookUp)
      await ask(numbers.slice(half), lookUp)
    }
  }

  function learn(number: string, jid: string | null): void {
    postponed.delete(number)
    recipients.set(number, jid)
  }

  return {
    find: recipients.find,
    waitMs,
    pausedMs: () => Math.max(0, pausedUntilMs - clock.nowMs()),
    notePause: pause,
    noteAnswered() {
      failures = 0
    },
    async resolve(numbers, lookUp) {
      const due = [...new Set(numbers)].filter(
        (number) => recipients.find(number) === undefined && waitMs(number) === 0,
      )
      if (due.length > 0) await ask(due.slice(0, numbersPerLookUp), lookUp)
    },
  }
}

/** Errors such as 429 and 503 are about the sender or the server: smaller queries would make them worse. */
function isAboutNumbers(error: unknown): boolean {
  return error instanceof LookUpRefused && [400, 404, 406].includes(error.code)
}

/** What WhatsApp has said about numbers. `undefined`: nothing yet. `null`: not on WhatsApp. */
export type Recipients = {
  find(number: string): string | null | undefined
  set(number: string, jid: string | null): void
}

const dayMs = 86_400_000
const hourMs = 3_600_000

/**
 * One bounded cache for all devices of the process. Each device sees only its own entries: response times must not reveal
 * to one tenant which numbers another has looked up.
 */
export function makeRecipientsCache(): (deviceId: number) => Recipients {
  const known = new LRUCache<string, Known>({
    // A `max` would reserve the memory of all of them now.
    maxSize: 200_000,
    sizeCalculation: () => 1,
  })
  return (deviceId) => {
    const keyOf = (number: string) => `${deviceId} ${number}`
    return {
      find(number) {
        const found = known.get(keyOf(number))
        return found === sameNumber ? phoneJid(number) : found?.jid
      },
      set(number, jid) {
        const value = jid === phoneJid(number) ? sameNumber : { jid }
        known.set(keyOf(number), value, { ttl: jid ? 7 * dayMs : hourMs })
      },
    }
  }
}

type Known = { jid: string | null }

/** Nearly all: without an object and a text of their own, a contact takes half the memory. */
const sameNumber: Known = { jid: null }

const retryMs = 1000

type LookUps = {
  resolver: NumberResolver
  lookUp: LookUp
  logger: Logger
  id: number
  pump(): void
  pumpAfter(ms: number): void
}

/** Looks up the numbers of messages whose recipients are not known, one query at a time. */
export function makeLookUpUnknown(lookUps: LookUps): (unknown: WaitingMessage[]) => void {
  const { resolver, lookUp, logger, id: deviceId, pump, pumpAfter } = lookUps
  let isResolving = false
  return (unknown) => {
    if (unknown.length === 0 || isResolving) return
    const numbers = unknown.map(({ number }) => number)
    const due = numbers.filter((number) => resolver.waitMs(number) === 0)
    if (due.length < numbers.length) {
      pumpAfter(Math.min(...numbers.map(resolver.waitMs).filter((waitMs) => waitMs > 0)))
    }
    if (due.length === 0) return
    isResolving = true
    const resolved = resolver.resolve(due, lookUp).finally(() => {
      isResolving = false
    })
    resolved.then(pump, (error) => {
      logger.warn({ err: error, deviceId }, 'Looking up recipients failed, will retry')
      pumpAfter(retryMs)
    })
  }
}

/** WhatsApp limits look-ups of this sender. Messages to recipients whose devices are known may be sent. */
export class LookUpsPaused extends Error {
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, cause?: unknown) {
    super('WhatsApp limits look-ups of this sender.', { cause })
    this.name = 'LookUpsPaused'
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Fetches the devices of a recipient to whom the sender has not written yet, and establishes Signal sessions with them.
 * Baileys would do so during the send, while holding the sender's lock, which would block its other messages.
 */
export function makeEnsureRecipientSessions(
  sock: WASocket,
  resolver: Pick<NumberResolver, 'pausedMs' | 'notePause' | 'noteAnswered'>,
): (recipient: string) => Promise<void> {
  const limits = watchQueryLimits(sock)

  return async (recipient) => {
    if (await sock.userDevicesCache.get(userOf(recipient))) return
    if (resolver.pausedMs() > 0) throw new LookUpsPaused(resolver.pausedMs())
    try {
      const devices = await sock.getUSyncDevices([recipient], true, false)
      resolver.noteAnswered()
      if (devices.length === 0) throw new Error('WhatsApp named no device of the recipient')
      await sock.assertSessions(devices.map(({ jid }) => jid))
    } catch (error) {
      // Known devices stand for sessions with them.
      await sock.userDevicesCache.del(userOf(recipient))
      if (!isQueryLimit(error)) throw error
      // Look-ups that were under way together are one refusal.
      if (resolver.pausedMs() === 0) resolver.notePause(limits.backoffMs())
      throw new LookUpsPaused(resolver.pausedMs(), error)
    }
  }
}
