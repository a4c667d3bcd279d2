import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { normalPriority, priorities } from '@wagate/shared/priorities'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeHands } from '../src/outbox/message-hands.ts'
import { type LaneFacts, planLanes, type Turn } from '../src/outbox/recipient-lanes.ts'
import { chooseTurn, makePriorityTurns, placesFor, type SendKind } from '../src/outbox/turns.ts'
import { joinLists, makeWaitingList } from '../src/outbox/waiting-list.ts'
import { makeMessage, readFrom } from './waiting-rows.ts'

const kindOf = ({ message }: Turn): SendKind => (message.status === 'sending' ? 'retry' : 'fresh')

/** An outbox without sockets and clocks: what the database, WhatsApp and media hosts do is said step by step. */
class Model {
  readonly rows: WaitingMessage[] = []
  readonly delivered: WaitingMessage[] = []
  readonly resolved = new Set<string>()
  #seq = 0
  #nowMs = 0
  #paused = new Set<string>()
  /** Recipients that were written to just now. */
  #paced = new Set<string>()
  #hands = makeHands()
  #wasFresh = false
  #priorityTurns = makePriorityTurns()
  #list = this.#openList()

  readonly #facts: LaneFacts = {
    recipientOf: ({ number }) =>
      number.startsWith('new') && !this.resolved.has(number) ? undefined : `${number}@jid`,
    isAcknowledged: () => false,
    workFor: (recipient, priority) => this.#hands.workFor(recipient, priority),
    waitMs: ({ id }) => (this.#paused.has(id) ? 1000 : 0),
    paceMs: (recipient) => (this.#paced.has(recipient) ? 2000 : 0),
    isRetry: ({ status }) => status === 'sending',
    typingMs: () => 0,
    mayBePassed: () => false,
  }

  get onWire(): Turn[] {
    return this.#hands.turnsOf('send')
  }

  get inPreparation(): Turn[] {
    return this.#hands.turnsOf('prepare')
  }

  accept(number: string, type: 'text' | 'image', priority = normalPriority): void {
    this.#seq += 1
    this.rows.push(makeMessage(this.#seq, number, { type, priority }))
    this.#list.mayHaveMore()
  }

  async pump(): Promise<void> {
    for (let reads = 0; reads < 20; reads++) {
      const waitMs = await this.#list.refill((messages) => planLanes(messages, this.#facts).available)
      if (waitMs === 0) break
      this.#nowMs += waitMs
    }
    const { ready, unprepared } = planLanes(this.#list.list(), this.#facts)
    for (const turn of unprepared) {
      if (this.inPreparation.length < 4) this.#begin(turn, 'prepare')
    }
    let left = ready
    for (let turn = this.#choose(left); turn; turn = this.#choose(left)) {
      const chosen = turn
      left = left.filter((other) => other !== chosen)
      this.#wasFresh = kindOf(chosen) === 'fresh'
      this.#priorityTurns.note(chosen, [chosen, ...left])
      this.#begin(chosen, 'send')
    }
  }

  acknowledge(turn: Turn): void {
    this.#end(turn)
    this.#paced.add(turn.recipient)
    this.delivered.push(turn.message)
    this.#list.remove(turn.message)
    this.rows.splice(
      this.rows.findIndex(({ id }) => id === turn.message.id),
      1,
    )
  }

  leaveUnanswered(turn: Turn): void {
    this.#end(turn)
    turn.message.status = 'sending'
    this.#rowOf(turn.message).status = 'sending'
    this.#paused.add(turn.message.id)
  }

  prepared(turn: Turn): void {
    this.#end(turn)
    turn.message.uploadedContent = Buffer.from('uploaded')
    this.#rowOf(turn.message).uploadedContent = Buffer.from('uploaded')
  }

  failToPrepare(turn: Turn): void {
    this.#end(turn)
    this.#paused.add(turn.message.id)
  }

  endPauses(): void {
    this.#paused.clear()
    this.#paced.clear()
  }

  reconnect(): void {
    for (const { message } of this.onWire) this.#rowOf(message).status = 'sending'
    this.#hands = makeHands()
    this.#wasFresh = false
    this.#list = this.#openList()
  }

  #begin(turn: Turn, kind: 'send' | 'prepare'): void {
    expect(
      this.#hands.workFor(turn.recipient, turn.message.priority),
      'nothing else is done for the recipient',
    ).toBe(undefined)
    const earlier = this.rows.filter(
      ({ number, priority, seq }) =>
        number === turn.message.number && priority === turn.message.priority && seq < turn.message.seq,
    )
    expect(earlier, 'nothing of its priority to the recipient was accepted before it and waits').toEqual([])
    this.#hands.move(turn, kind === 'send' ? 'claim' : 'prepare')
    const isPaced = kind === 'send' && turn.message.status === 'queued' && this.#paced.has(turn.recipient)
    expect(isPaced, 'a message to the recipient has just left').toBe(false)
    expect(this.onWire.filter(({ message }) => message.priority > 0).length).toBeLessThanOrEqual(8)
    expect(this.onWire.length).toBeLessThanOrEqual(10)
    expect(new Set(this.onWire.map(({ recipient }) => recipient)).size).toBe(this.onWire.length)
    expect(this.onWire.filter(({ message }) => message.status === 'sending').length).toBeLessThanOrEqual(4)
  }

  #end(turn: Turn): void {
    this.#hands.move(turn, 'retry')
  }

  #rowOf({ id }: WaitingMessage): WaitingMessage {
    const row = this.rows.find((known) => known.id === id)
    if (!row) throw new Error('The row is gone')
    return row
  }

  #openList() {
    return joinLists(
      priorities.map((_, priority) =>
        makeWaitingList(
          {
            read: async (query) => readFrom(this.rows, { ...query, priority }),
            findLast: async () => this.rows.findLast((row) => row.priority === priority)?.seq,
          },
          () => this.#nowMs,
        ),
      ),
    )
  }

  #choose(turns: Turn[]): Turn | undefined {
    const startable = turns.filter(placesFor(this.onWire, kindOf))
    const priority = this.#priorityTurns.next(startable)
    return chooseTurn(startable, { wasFresh: this.#wasFresh, kindOf, priority })
  }
}

const numbers = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c') },
  fc.nat(400).map((n) => `known ${n}`),
  fc.nat(400).map((n) => `new ${n}`),
)
const accepted = fc.record({
  kind: fc.constant('accept' as const),
  number: numbers,
  type: fc.constantFrom('text' as const, 'text' as const, 'image' as const),
  count: fc.constantFrom(1, 1, 1, 80),
  isSpread: fc.boolean(),
  priority: fc.constantFrom(1, 1, 0, 2),
})
const other = fc.record({
  kind: fc.constantFrom(
    ...(['pump', 'pump', 'acknowledge', 'acknowledge', 'leaveUnanswered', 'prepared'] as const),
    ...(['failToPrepare', 'endPauses', 'resolve', 'reconnect'] as const),
  ),
  index: fc.nat(7),
})
const steps = fc.array(fc.oneof({ weight: 1, arbitrary: accepted }, { weight: 3, arbitrary: other }), {
  maxLength: 120,
})

function at<Item>(items: Item[], index: number): Item[] {
  const item = items[index % Math.max(1, items.length)]
  return item === undefined ? [] : [item]
}

test('messages to one recipient leave one at a time, those of a priority in their order, and none stays hidden', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const model = new Model()
      for (const step of history) {
        if (step.kind === 'accept') {
          for (let n = 0; n < step.count; n++) {
            model.accept(step.isSpread ? `${step.number} ${n}` : step.number, step.type, step.priority)
          }
        } else if (step.kind === 'resolve') {
          for (const { number } of at(model.rows, step.index * 11)) model.resolved.add(number)
        } else if (step.kind === 'prepared' || step.kind === 'failToPrepare') {
          for (const turn of at(model.inPreparation, step.index)) model[step.kind](turn)
        } else if (step.kind === 'acknowledge' || step.kind === 'leaveUnanswered') {
          for (const turn of at(model.onWire, step.index)) model[step.kind](turn)
        } else await model[step.kind]()
      }
      const count = model.rows.length
      const before = model.delivered.length
      for (const { number } of model.rows) model.resolved.add(number)
      for (let rounds = 0; model.rows.length > 0 && rounds < 2 * count + 10; rounds++) {
        model.endPauses()
        await model.pump()
        for (const turn of model.inPreparation) model.prepared(turn)
        for (const turn of model.onWire) model.acknowledge(turn)
      }
      expect(model.rows).toEqual([])
      expect(model.delivered).toHaveLength(before + count)
    }),
    { numRuns: 150 },
  )
}, 120_000)

test('recipients who were just written to hold up no others, however much waits for them', async () => {
  const model = new Model()
  const written = Array.from({ length: 100 }, (_, n) => `${n}`)
  for (const number of written) model.accept(number, 'text')
  while (model.rows.length > 0) {
    await model.pump()
    for (const turn of model.onWire) model.acknowledge(turn)
  }
  for (const number of written) for (let n = 0; n < 10; n++) model.accept(number, 'text')
  model.accept('another', 'text')
  await model.pump()
  expect(model.onWire.map(({ message }) => message.number)).toEqual(['another'])
})
