import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ConnectionState, connectionOf, isComingOnline } from '../src/device/connection-state.ts'
import { isReconciled, planDevice } from '../src/device/plan.ts'

type State = ConnectionState<{ rev: number; sessionRev: number }, null>
type Facts = NonNullable<Parameters<typeof planDevice>[0]>

const nowMs = 100_000
const version = '2.3000.1'
const noBlock = { blockLeftMs: null, blockRev: null, blockVersion: null }
const before = { isCompletingLink: false }
const idle: State = { kind: 'idle', ...before }

const rev = fc.integer({ min: 1, max: 3 })
const connection = fc.record({ rev, sessionRev: rev })
const isCompletingLink = fc.boolean()
const states: fc.Arbitrary<State> = fc.oneof(
  fc.record({ kind: fc.constant('idle' as const), isCompletingLink }),
  fc.record({
    kind: fc.constant('waiting' as const),
    untilMs: fc.integer({ min: nowMs - 1000, max: nowMs + 1000 }),
    rev: fc.option(rev),
    version: fc.option(fc.constantFrom(version, '2.3000.0')),
    isCompletingLink,
  }),
  fc.record({ kind: fc.constant('refused' as const), reason: fc.constant('logged_out'), isCompletingLink }),
  fc.record({
    kind: fc.constantFrom('pairing' as const, 'logging-in' as const),
    connection,
    isCompletingLink,
  }),
  fc.record({ kind: fc.constant('open' as const), connection }),
  fc.record({ kind: fc.constant('online' as const), connection, outbox: fc.constant(null) }),
)
const block = fc.oneof(
  fc.constant(noBlock),
  fc.record({
    blockLeftMs: fc.integer({ min: -1000, max: 1000 }),
    blockRev: fc.option(rev),
    blockVersion: fc.option(fc.constantFrom(version, '2.3000.0')),
  }),
)
const withoutBlock = fc.record({
  isLinked: fc.boolean(),
  hasStoredCreds: fc.boolean(),
  isPairing: fc.boolean(),
  isRemovable: fc.boolean(),
  isAccountDisabled: fc.boolean(),
  desiredRev: rev,
  sessionRev: rev,
})
const facts: fc.Arbitrary<Facts> = fc
  .tuple(withoutBlock, block)
  .map(([of, blocked]) => ({ ...of, ...blocked }))

/** A device whose steps all succeed, and whose waits are waited for. */
class Model {
  facts: Facts | undefined
  state: State
  nowMs = nowMs
  isPaced = true

  constructor(facts: Facts | undefined, state: State) {
    this.facts = facts
    this.state = state
  }

  plan() {
    return planDevice(this.facts, this.state, {
      nowMs: this.nowMs,
      version,
      isPaceApplied: () => this.isPaced,
    })
  }

  /** Returns what was done. */
  step(): string {
    const action = this.plan()
    const { desiredRev: rev = 0, sessionRev = 0 } = this.facts ?? {}
    switch (action.kind) {
      case 'forget-credentials':
      case 'abandon-link':
      case 'log-out':
        if (this.facts) Object.assign(this.facts, { hasStoredCreds: false, isLinked: false })
        this.state = idle
        break
      case 'log-in':
        if (this.state.kind !== 'pairing')
          expect(connectionOf(this.state), 'there is no other login').toBeUndefined()
        else expect(this.state.isCompletingLink, 'WhatsApp does not ask for this login').toBe(false)
        expect(this.mustWait(), 'the pause is over').toBe(false)
        this.state = { kind: 'logging-in', connection: { rev, sessionRev }, ...before }
        break
      case 'show-qr':
        expect(this.mustWait(), 'the pause is over').toBe(false)
        this.state = { kind: 'pairing', connection: { rev, sessionRev }, ...before }
        break
      case 'go-online':
        if (this.state.kind === 'open') this.state = { ...this.state, kind: 'online', outbox: null }
        break
      case 'update-pace':
        this.isPaced = true
        break
      case 'remove':
        this.facts = undefined
        this.state = idle
        break
      case 'disconnect':
      case 'suspend':
      case 'restart':
        this.state = idle
        break
      case 'wait':
        this.nowMs += action.ms
        if (this.facts?.blockLeftMs) this.facts.blockLeftMs -= action.ms
    }
    return action.kind
  }

  /** WhatsApp lets the login open. */
  open(): void {
    if (this.state.kind === 'logging-in') this.state = { kind: 'open', connection: this.state.connection }
  }

  /** A phone was scanned before: WhatsApp ends the connection, and asks for a login. */
  restart(): void {
    if (this.state.kind === 'pairing' && this.state.isCompletingLink) this.state = idle
  }

  mustWait(): boolean {
    const { state } = this
    if (this.facts?.hasStoredCreds && isBlocked(this.facts)) return true
    if (state.kind !== 'waiting' || ![null, version].includes(state.version)) return false
    return [null, this.facts?.desiredRev].includes(state.rev) && state.untilMs > this.nowMs
  }
}

function isBlocked({ blockLeftMs, blockRev, blockVersion, desiredRev }: Facts): boolean {
  if (blockLeftMs === null || blockLeftMs <= 0) return false
  return [null, desiredRev].includes(blockRev) && [null, version].includes(blockVersion)
}

/** Every link has credentials. */
const isPossible = ({ isLinked, hasStoredCreds }: Facts) => !isLinked || hasStoredCreds

test('every device reaches what is desired of it in a few steps, and is then left alone', () => {
  const given = fc.option(facts.filter(isPossible), { nil: undefined })
  fc.assert(
    fc.property(given, states, fc.boolean(), (known, state, isPaced) => {
      const model = new Model(known && { ...known }, state)
      model.isPaced = isPaced
      for (let steps = 0; steps < 8; steps++) {
        model.step()
        model.open()
        model.restart()
      }
      expect(isReconciled(model.plan())).toBe(true)
      const after = model.state
      if (!model.facts) expect(connectionOf(after)).toBeUndefined()
      else if (model.facts.isAccountDisabled) expect(connectionOf(after)).toBeUndefined()
      else if (model.facts.isLinked) {
        expect(after.kind).toBe('online')
        expect(connectionOf(after)?.sessionRev).toBeGreaterThanOrEqual(model.facts.sessionRev)
      } else if (model.facts.isPairing && !model.facts.isRemovable)
        expect(after).toMatchObject({ kind: 'pairing', connection: { rev: model.facts.desiredRev } })
      else expect(connectionOf(after)).toBeUndefined()
      expect(model.facts?.hasStoredCreds && !model.facts.isLinked, 'no link is left to be undone').toBeFalsy()
    }),
    { numRuns: 2000 },
  )
})

test('a device is reconciled exactly when the next step leaves it as it is', () => {
  fc.assert(
    fc.property(facts.filter(isPossible), states, fc.boolean(), (known, state, isPaced) => {
      const model = new Model({ ...known }, state)
      model.isPaced = isPaced
      const isDone = isReconciled(model.plan())
      model.step()
      const isSame = model.state === state && model.isPaced === isPaced && model.facts !== undefined
      expect(isDone).toBe(isSame)
    }),
    { numRuns: 2000 },
  )
})

test('a linked device that is coming online needs no step but to go online', () => {
  fc.assert(
    fc.property(facts.filter(isPossible), states, (known, state) => {
      const enabled = { ...known, isAccountDisabled: false }
      const facts = { ...enabled, isLinked: true, hasStoredCreds: true, desiredRev: 5, sessionRev: 1 }
      const ofRev = state.kind === 'waiting' && state.rev !== null ? { ...state, rev: 5 } : state
      fc.pre(isComingOnline(ofRev, { nowMs, version }))
      const at = { nowMs, version, isPaceApplied: () => true }
      expect(['none', 'wait', 'go-online']).toContain(planDevice(facts, ofRev, at).kind)
    }),
  )
})
