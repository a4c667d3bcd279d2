import { isRefused, type MessageMove, type MessageState } from '@wagate/db/message-states'
import {
  acknowledge,
  copy,
  disconnect,
  type Hand,
  isWaiting,
  move,
  moveHandOf,
  newOwner,
  type Owner,
  readyOf,
  type Stanza,
  stop,
  type World,
} from './send-world.ts'

export type Step = { name: string; world: World }

const ownersMax = 2

/** Every step that something in this world can take now. `refuses`: the messages that WhatsApp does not take. */
export function stepsFrom(world: World, refuses: number[]): Step[] {
  const steps: Step[] = []
  const step = (name: string, change: (next: World) => void) => {
    const next = copy(world)
    change(next)
    steps.push({ name, world: next })
  }
  const fault = (name: string, change: (next: World) => void) => {
    if (world.faults > 0)
      step(`${name} (fault)`, (next) => change(Object.assign(next, { faults: next.faults - 1 })))
  }

  stepsOfOthers(world, refuses, step, fault)
  for (const [index, owner] of world.owners.entries()) {
    if (owner.isAlive) stepsOfOwner(world, index, step, fault)
  }
  return steps
}

type Add = (name: string, change: (next: World) => void) => void

function stepsOfOthers(world: World, refuses: number[], step: Add, fault: Add): void {
  for (const message of world.callerCancels) {
    step(`the caller cancels ${message}`, (next) => {
      next.callerCancels = next.callerCancels.filter((other) => other !== message)
      if (!isRefused(next.states[message] as MessageState, 'cancel')) next.canceled.push(message)
      move(next, message, 'cancel')
    })
  }
  for (const [at, { owner, message }] of world.wire.entries()) {
    // A connection keeps the order.
    if (world.wire.findIndex((stanza) => stanza.owner === owner) < at) continue
    step(`${message} arrives`, (next) => {
      next.wire.splice(at, 1)
      const isRefusedByServer = refuses.includes(message)
      next.answers.push({ owner, message, kind: isRefusedByServer ? 'refused' : 'acknowledged' })
      if (isRefusedByServer || next.arrived.includes(message)) return
      next.arrived.push(message)
      next.receipts.push(message)
    })
    fault(`${message} is lost on the wire`, (next) => void next.wire.splice(at, 1))
  }
  for (const [at, { message }] of world.answers.entries())
    fault(`the answer to ${message} is lost`, (next) => void next.answers.splice(at, 1))
  const isOwned = world.owners.some(({ epoch, isAlive }) => isAlive && epoch === world.epoch)
  if (world.owners.length < ownersMax && (world.takeovers > 0 || !isOwned)) {
    step('another owner takes over', (next) => {
      next.takeovers = 0
      next.epoch += 1
      next.owners.push(newOwner(next.epoch, false))
    })
  }
}

function stepsOfOwner(world: World, index: number, step: Add, fault: Add): void {
  const owner = world.owners[index] as Owner
  const name = `owner ${index + 1}`
  const isValid = owner.epoch === world.epoch
  const change = (what: string, run: (next: World, mine: Owner) => void, add = step) =>
    add(`${name} ${what}`, (next) => run(next, next.owners[index] as Owner))

  // WhatsApp has one connection for the device, and the login of an owner needs the lease.
  if (!owner.isOnline && isValid) {
    change('logs in', (next, mine) => {
      for (const other of next.owners.keys()) disconnect(next, other)
      mine.isOnline = true
    })
  }
  if (owner.isOnline) change('loses its connection', (next) => disconnect(next, index), fault)
  if (owner.epoch === 1) change('dies', (next) => stop(next, index), fault)
  if (owner.hands.some(({ is }, message) => is === 'unknown' && isWaiting(world, message))) {
    change('reads what waits', (next, mine) => {
      for (const [message, hand] of mine.hands.entries()) {
        if (hand.is !== 'unknown' || !isWaiting(next, message)) continue
        Object.assign(hand, { is: 'waiting', isRetry: next.states[message] === 'sending' })
      }
    })
  }
  for (const message of readyOf(owner)) {
    if (owner.isOnline) change(`claims ${message}`, (_, mine) => moveHandOf(mine, message, 'claim'))
  }
  for (const message of world.timeIsOver) {
    if (!isValid) continue
    change(`sweeps ${message}`, (next) => {
      next.timeIsOver = next.timeIsOver.filter((other) => other !== message)
      move(next, message, 'sweep')
    })
  }
  for (const message of world.receipts) {
    if (!owner.isOnline || !isValid) continue
    change(`stores the receipt of ${message}`, (next, mine) => {
      next.receipts = next.receipts.filter((other) => other !== message)
      move(next, message, 'deliver')
      acknowledge(mine, message)
    })
  }
  for (const [at, { owner: to, message, kind }] of world.answers.entries()) {
    if (to !== index || !owner.isOnline) continue
    change(`hears that ${message} is ${kind}`, (next, mine) => {
      next.answers.splice(at, 1)
      if (kind === 'acknowledged') acknowledge(mine, message)
      else if (mine.hands[message]?.is === 'written') moveHandOf(mine, message, 'refuse')
    })
  }
  for (const message of owner.hands.keys()) stepsOfAttempt({ world, index, message }, change, fault)
}

type Change = (what: string, run: (next: World, mine: Owner) => void, add?: Add) => void

function stepsOfAttempt(
  { world, index, message }: { world: World; index: number; message: number },
  change: Change,
  fault: Add,
): void {
  const { epoch, hands } = world.owners[index] as Owner
  const { is } = hands[message] as Hand
  const retry = (mine: Owner) => moveHandOf(mine, message, 'retry')
  const leave = (mine: Owner) =>
    void Object.assign(mine.hands[message] as Hand, { is: 'done', isRetry: false })

  /** A statement is refused without the lease. Its answer, or the whole of it, may be lost: then it is made again. */
  const statement = (name: MessageMove, answered: (mine: Owner) => void, lost: (mine: Owner) => void) => {
    if (epoch !== world.epoch) return change(`may no longer ${name} ${message}`, (next) => stop(next, index))
    const moved = (next: World, mine: Owner, then: (mine: Owner) => void) => {
      move(next, message, name)
      then(mine)
    }
    change(`${name}s ${message}`, (next, mine) => moved(next, mine, answered))
    change(`${name}s ${message} without an answer`, (next, mine) => moved(next, mine, lost), fault)
    return change(`cannot ${name} ${message}`, (_, mine) => lost(mine), fault)
  }

  if (is === 'claiming') {
    const isTaken = isRefused(world.states[message] as MessageState, 'claim')
    statement('claim', (mine) => (isTaken ? leave(mine) : moveHandOf(mine, message, 'claimed')), retry)
  }
  if (is === 'claimed') {
    change(`writes ${message}`, (next, mine) => {
      if (!mine.isOnline) return retry(mine)
      next.wire.push({ owner: index, message })
      return moveHandOf(mine, message, 'write')
    })
  }
  if (is === 'written') {
    const isOf = (stanza: Stanza) => stanza.owner === index && stanza.message === message
    const isUnderway = world.wire.some(isOf) || world.answers.some(isOf)
    const given = isUnderway ? fault : undefined
    change(`waits no longer for ${message}`, (_, mine) => retry(mine), given)
  }
  if (is === 'acknowledged' || is === 'refused') {
    const name = is === 'refused' ? 'fail' : 'acknowledge'
    statement(name, leave, () => undefined)
  }
}
