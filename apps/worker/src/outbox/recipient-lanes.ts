import type { BlockReason, WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { lidOf, numberOf, phoneJid } from '@wagate/shared/contact-key'
import { phoneForms, subscriberOf } from '@wagate/shared/phone'
import { normalPriority } from '@wagate/shared/priorities'
import { isReadyToSend } from './content.ts'

/** A message that is the first to its recipient. */
export type Turn = { message: WaitingMessage; recipient: string }

/**
 * What messages to one person have in common, however they are addressed: the lane of the number if that is known, else the
 * LID.
 */
export function laneOf({ message, recipient }: Turn): string {
  const number = lidOf(recipient) === null ? null : numberOf(message.number)
  return number === null ? laneOfAddress(recipient) : laneOfAddress(phoneJid(number))
}

/** The same for all forms of a number. */
export function laneOfAddress(jid: string): string {
  const [user = '', server] = jid.split('@')
  return server === phoneServer ? phoneJid(subscriberOf(user)) : jid
}

const phoneServer = phoneJid('').slice(1)

/** From which a recipient may answer: a person who was written to at a LID has a number as well. */
export function addressesOf({ message, recipient }: Turn): string[] {
  const number = lidOf(recipient) === null ? null : numberOf(message.number)
  return number === null ? [recipient] : [recipient, ...phoneForms(number).map(phoneJid)]
}

/** What the plan needs to know about messages and recipients. */
export type LaneFacts = {
  /** `undefined`: not known yet. `null`: not on WhatsApp. */
  recipientOf(message: WaitingMessage): string | null | undefined
  /** WhatsApp has acknowledged it: the next message to its recipient may leave. */
  isAcknowledged(message: WaitingMessage): boolean
  /** What is being done for a message of this lane. Only messages of this priority count as prepared. */
  workFor(lane: string, priority: number): 'send' | 'prepare' | undefined
  /** Ms until it may be tried again. */
  waitMs(message: WaitingMessage): number
  /** Ms until another message of this lane may leave. A retry need not wait for it. */
  paceMs(lane: string): number
  isRetry(message: WaitingMessage): boolean
  /** It has failed for so long that the messages behind it no longer wait for it. */
  mayBePassed(message: WaitingMessage): boolean
  /** Ms for which its recipient is still shown that the sender is typing. */
  typingMs(message: WaitingMessage): number
}

/**
 * What can be done next for the messages of a device. A lane is the messages of one priority to one person, and its first
 * decides.
 */
export type LanePlan = {
  /** May be sent now; at most one for each recipient. */
  ready: Turn[]
  /** Media that must be uploaded first; at most one message for each recipient. */
  unprepared: Turn[]
  /** Their numbers have to be looked up. */
  unknown: WaitingMessage[]
  /** Their numbers are not on WhatsApp. */
  absent: WaitingMessage[]
  /** Ms until the first pause is over; Infinity without pauses. */
  pauseMs: number
  available: Available
}

/** How many of the messages that were read can leave soon. */
export type Available = {
  /** Messages in lanes that are neither blocked nor paced. Only a few count per lane: one long lane must not stop the search for others. */
  open: number
  /** Numbers whose further messages need not be read for now. */
  stocked: Set<string>
  /** How many messages are blocked, by reason. */
  blocked: Record<BlockReason, number>
}

const countedPerLane = 4

/** Messages with the same key are in one lane. */
export const laneKey = (person: string, priority: number): string =>
  priority === normalPriority ? person : `${priority} ${person}`

/** `messages` must be in their order, those of the higher priority first. */
export function planLanes(messages: WaitingMessage[], facts: LaneFacts): LanePlan {
  const plan: LanePlan = {
    ready: [],
    unprepared: [],
    unknown: [],
    absent: [],
    pauseMs: Number.POSITIVE_INFINITY,
    available: {
      open: 0,
      stocked: new Set(),
      blocked: { newContacts: 0, unprepared: 0, attempted: 0 },
    },
  }
  /**
   * By recipient and by number, so that a plan looks each number up once: it is made for every answer, and the look-ups
   * would be most of its cost. Null: not on WhatsApp.
   */
  const lanes = new Map<string, Lane | null>()
  const lengths = new Map<string, number>()
  /** The persons to whom a message may be sent now: those of lower priorities wait for it. */
  const served = new Set<string>()

  function findLane(message: WaitingMessage): Lane | null {
    const { priority } = message
    const address = laneKey(addressOf(message), priority)
    const known = lanes.get(address)
    if (known !== undefined && known?.state !== 'passed') return known
    const recipient = facts.recipientOf(message)
    // A message to a LID must not overtake one to its number that is still to be looked up.
    const key = laneKey(laneOf({ message, recipient: recipient ?? phoneJid(message.number) }), priority)
    const ofKey = lanes.get(key)
    const lane = ofKey && ofKey.state !== 'passed' ? ofKey : openLane(message, recipient, ofKey?.length)
    lanes.set(key, lane)
    lanes.set(address, lane)
    return lane
  }

  function openLane(message: WaitingMessage, recipient: string | null | undefined, length = 0): Lane | null {
    return recipient === null ? null : { state: addHead({ plan, served, facts }, message, recipient), length }
  }

  for (const message of messages) {
    if (facts.isAcknowledged(message)) continue
    const lane = findLane(message)
    if (lane === null) {
      plan.absent.push(message)
      continue
    }
    lane.length += 1
    countIn(plan.available, message, lane, lengths)
  }
  return plan
}

type Lane = { state: LaneState; length: number }

/**
 * `paced`: the latest message to the recipient has just left, or the sender is typing the next one. `passed`: its first message
 * has failed for long and waits for another attempt, so the next one decides.
 */
type LaneState = 'open' | 'paced' | 'passed' | BlockReason

/** Messages with the same are in the same lane. Called for every message of every plan: it builds a string only for LIDs. */
function addressOf({ recipientJid, number }: WaitingMessage): string {
  if (recipientJid === null) return number
  return lidOf(recipientJid) === null ? recipientJid : `${recipientJid} ${number}`
}

/** The first message of a lane decides for the whole lane, unless it may be passed. */
function addHead(
  { plan, served, facts }: { plan: LanePlan; served: Set<string>; facts: LaneFacts },
  message: WaitingMessage,
  recipient: string | undefined,
): LaneState {
  if (recipient === undefined) {
    plan.unknown.push(message)
    return 'newContacts'
  }
  const lane = laneOf({ message, recipient })
  const work = facts.workFor(lane, message.priority)
  if (work === 'prepare') return 'unprepared'
  if (work === 'send') return facts.isRetry(message) ? 'attempted' : 'open'
  const waitMs = facts.waitMs(message)
  if (waitMs > 0) plan.pauseMs = Math.min(plan.pauseMs, waitMs)
  if (waitMs > 0 && facts.mayBePassed(message)) return 'passed'
  if (!isReadyToSend(message)) {
    if (waitMs === 0) plan.unprepared.push({ message, recipient })
    return 'unprepared'
  }
  const isRetry = facts.isRetry(message)
  const paceMs = isRetry ? 0 : Math.max(facts.paceMs(lane), facts.typingMs(message))
  if (paceMs > 0) plan.pauseMs = Math.min(plan.pauseMs, Math.max(waitMs, paceMs))
  if (waitMs === 0 && paceMs === 0 && !served.has(lane)) {
    served.add(lane)
    plan.ready.push({ message, recipient })
  }
  if (isRetry) return 'attempted'
  return paceMs > 0 ? 'paced' : 'open'
}

function countIn(
  available: Available,
  { number }: WaitingMessage,
  { state, length }: Lane,
  lengths: Map<string, number>,
): void {
  if (state === 'passed') return
  const ofNumber = (lengths.get(number) ?? 0) + 1
  lengths.set(number, ofNumber)
  if (state === 'open' || state === 'paced') {
    if (state === 'open' && length <= countedPerLane) available.open += 1
    if (ofNumber >= countedPerLane) available.stocked.add(number)
  } else {
    available.blocked[state] += 1
    available.stocked.add(number)
  }
}
