import { setTimeout as delay } from 'node:timers/promises'
import { isRefusedContent } from '@wagate/db/failures'
import type { WebhookLease } from '@wagate/db/queries/webhooks/webhook-leases'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import { within } from '@wagate/runtime/within'
import type { Circuit } from './circuit.ts'
import type { DispatcherContext } from './dispatcher-context.ts'
import { runRound } from './round.ts'
import { storeUnstored } from './store-round.ts'
import { loadWebhook, type WebhookState } from './webhook-state.ts'

type Options = {
  context: DispatcherContext
  lease: WebhookLease
  /** False: others may deliver it, so nothing is posted. */
  isLeaseValid(): boolean
  onError(error: unknown): void
}

/** When it stops during an outage, the next dispatcher posts the round again. */
const storeRestMsMax = 2000

/** Delivers one webhook, one round at a time, until it is stopped. */
export class OwnedWebhook {
  readonly lease: WebhookLease
  readonly #options: Options
  readonly #stopping = new AbortController()
  #state: WebhookState | undefined
  #running: Promise<void> | undefined
  #isWokenAgain = false
  /** Outlives the state. */
  #circuit: Circuit | undefined
  /** Rounds in a row that could not be read or stored. */
  #failures = 0

  constructor(options: Options) {
    this.lease = options.lease
    this.#options = options
  }

  /** Undefined until it is loaded. */
  get state(): WebhookState | undefined {
    return this.#state
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Has a round in progress, or waits to repeat one that failed. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Nothing is in flight any more, and what became of it is stored if that was possible. */
  get hasStopped(): boolean {
    return this.isStopping && !this.#running
  }

  /** Looks for something to deliver, now or after the present round. */
  wake(): void {
    if (this.#state) this.#state.mayBeDue = true
    this.wakeForEvents()
  }

  /** The same for new events alone. */
  wakeForEvents(): void {
    this.#isWokenAgain = true
    this.#start()
  }

  /** Sends no further request. Resolves once it has stopped. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#start()
    await this.#running
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  async #run(): Promise<void> {
    while (this.#isWokenAgain && !this.isStopping) {
      this.#isWokenAgain = false
      await this.#deliver().catch((error: unknown) => this.#fail(error))
      if (this.#isWokenAgain) await this.#pause()
    }
    if (this.isStopping) await this.#storeRest()
  }

  /** Keeps the state with what is still to be stored, so that a round is posted once, however long it cannot be stored. */
  #fail(error: unknown): void {
    // Another round may have content that Postgres takes.
    if (isRefusedContent(error)) this.#state = undefined
    this.#failures += 1
    this.#isWokenAgain = true
    if (!this.isStopping) this.#options.onError(error)
  }

  /** Events that follow one another closely share a round, and its statements. */
  async #pause(): Promise<void> {
    const { pauseMs, failurePause } = this.#options.context.limits
    const ms = this.#failures > 0 ? growingPauseMs(this.#failures, failurePause) : pauseMs
    const { signal } = this.#stopping
    await delay(ms, undefined, { signal }).catch(() => undefined)
  }

  #mayPost(): boolean {
    return !this.isStopping && this.#options.isLeaseValid()
  }

  async #deliver(): Promise<void> {
    const { context, lease } = this.#options
    this.#state ??= await loadWebhook(context, lease, this.#circuit)
    const state = this.#state
    if (!state) return
    this.#circuit = state.circuit
    const { signal } = this.#stopping
    for (let end = 'more'; end === 'more' && this.#mayPost(); ) {
      const release = await context.rounds.acquire(String(state.accountId), 1, signal)
      try {
        end = await runRound(context, state, () => this.#mayPost())
        this.#failures = 0
      } finally {
        release()
      }
      if (end === 'ended') this.#stopping.abort()
    }
  }

  async #storeRest(): Promise<void> {
    const { context, onError } = this.#options
    if (this.#state) await within(storeRestMsMax, storeUnstored(context, this.#state).catch(onError))
  }
}
