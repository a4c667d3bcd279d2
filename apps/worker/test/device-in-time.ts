import type { ConnectionChange } from '@wagate/db/queries/devices/device-connection'
import { afterEnd } from '../src/device/after-end.ts'
import { type ConnectionState, disconnected, initialState } from '../src/device/connection-state.ts'
import { type ConnectionHistory, makeConnectionHistory } from '../src/device/connector.ts'
import { planDevice } from '../src/device/plan.ts'
import type { SocketEnd } from '../src/session/connection/socket-end.ts'

type State = ConnectionState<{ rev: number; sessionRev: number }, null>

/** A worker with the device: what it remembers, and a clock that shows another time than all others. */
type Owner = { state: State; history: ConnectionHistory; clockAheadMs: number; version: string }

/**
 * What happens to a device besides its logins. `waited`: a timer or a poll. `restart`: of its worker, `update`: with another
 * version of the client. `new-version`: a worker has read one.
 */
export type Disturbance =
  | 'waited'
  | 'wake'
  | 'takeover'
  | 'restart'
  | 'restart-session'
  | 'update'
  | 'new-version'
  | 'logout'

/** The real rules over simulated time. Every login is refused, and `answer` says how. */
export class DeviceInTime {
  nowMs = 0
  /** When it logged in. */
  readonly logins: number[] = []
  isWiped = false
  readonly #answer: (atMs: number) => SocketEnd
  readonly #canStore: boolean
  readonly #postgresAheadMs = 5_000_000
  #owner = newOwner(0, '2.3000.1')
  #isLinked = true
  #desiredRev = 1
  #sessionRev = 0
  #loginAfterMs: number | null = null
  #blockRev: number | null = null
  #blockVersion: string | null = null
  #timerMs = 0

  /** Without `canStore`, Postgres is read but not written. */
  constructor(answer: (atMs: number) => SocketEnd, { canStore = true } = {}) {
    this.#answer = answer
    this.#canStore = canStore
  }

  /** Lets the time pass up to this moment, and then this happen. */
  go(untilMs: number, then: Disturbance): void {
    while (this.#timerMs <= untilMs) {
      this.nowMs = Math.max(this.nowMs, this.#timerMs)
      this.#reconcile()
    }
    this.nowMs = untilMs
    const { version, clockAheadMs } = this.#owner
    if (then === 'takeover' || then === 'restart') this.#owner = newOwner(clockAheadMs + 777, version)
    if (then === 'restart-session') this.#sessionRev += 1
    if (then === 'update') this.#owner = newOwner(clockAheadMs, `${version}1`)
    if (then === 'new-version') this.#owner.version = `${version}1`
    if (then === 'logout') {
      this.#isLinked = false
      this.#desiredRev += 1
    }
    this.#reconcile()
  }

  #reconcile(): void {
    this.#timerMs = this.nowMs + 3_600_000
    for (;;) {
      const action = planDevice(this.#facts(), this.#owner.state, {
        nowMs: this.nowMs + this.#owner.clockAheadMs,
        version: this.#owner.version,
        isPaceApplied: () => true,
      })
      if (action.kind === 'log-in') this.#logIn()
      else if (action.kind === 'forget-credentials' || action.kind === 'abandon-link') {
        this.isWiped = true
        this.#owner.state = initialState
      } else {
        if (action.kind === 'wait') this.#timerMs = this.nowMs + Math.min(action.ms, 3_600_000)
        return
      }
    }
  }

  #facts() {
    return {
      isLinked: this.#isLinked && !this.isWiped,
      hasStoredCreds: !this.isWiped,
      isPairing: false,
      isRemovable: false,
      isAccountDisabled: false,
      desiredRev: this.#desiredRev,
      sessionRev: this.#sessionRev,
      blockLeftMs: this.#loginAfterMs === null ? null : this.#loginAfterMs - this.#postgresMs(),
      blockRev: this.#blockRev,
      blockVersion: this.#blockVersion,
    }
  }

  #logIn(): void {
    const { history, version, clockAheadMs } = this.#owner
    this.logins.push(this.nowMs)
    const ended = { hasWorked: false, isLoggingOut: !this.#isLinked }
    const next = history.note(this.#answer(this.nowMs), ended)
    const login = { kind: 'login', rev: this.#desiredRev, version, forMs: 20 } as const
    const after = afterEnd(next, login, this.nowMs + clockAheadMs)
    this.#owner.state = disconnected(this.#owner.state, after.state)
    if (after.change && this.#canStore) this.#store(after.change)
  }

  #store({ block }: ConnectionChange): void {
    this.#loginAfterMs = block?.forMs ? this.#postgresMs() + block.forMs : null
    this.#blockRev = block?.rev ?? null
    this.#blockVersion = block?.version ?? null
  }

  #postgresMs(): number {
    return this.nowMs + this.#postgresAheadMs
  }
}

function newOwner(clockAheadMs: number, version: string): Owner {
  return { state: initialState, history: makeConnectionHistory(), clockAheadMs, version }
}
