import { setTimeout as delay } from 'node:timers/promises'
import type { WebhookLease } from '@wagate/db/queries/webhook-leases'
import type { DispatcherContext } from './dispatcher-context.ts'
import { runRound } from './round.ts'
import { loadWebhook, type WebhookState } from './webhook-state.ts'

/** Delivers one webhook, one round at a time, until it is stopped. */
export class OwnedWebhook {
  readonly lease: WebhookLease
  readonly #context: DispatcherContext
  readonly #onError: (error: unknown) => void
  readonly #stopping = new AbortController()
  #state: WebhookState | undefined
  #running: Promise<void> | undefined
  #isWokenAgain = false

  constructor(context: DispatcherContext, lease: WebhookLease, onError: (error: unknown) => void) {
    this.lease = lease
    this.#context = context
    this.#onError = onError
  }

  /** Undefined until it is loaded, and after an error. */
  get state(): WebhookState | undefined {
    return this.#state
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Nothing is in flight any more, and what became of it is stored. */
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
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves once it has stopped. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#isWokenAgain && !this.isStopping) {
      this.#isWokenAgain = false
      try {
        await this.#deliver()
      } catch (error) {
        // What was stored is not known. Loading it again continues from there.
        this.#state = undefined
        if (!this.isStopping) this.#onError(error)
      }
      if (this.#isWokenAgain) await this.#pause()
    }
  }

  /** Events that follow one another closely share a round, and its statements. */
  async #pause(): Promise<void> {
    const { signal } = this.#stopping
    await delay(this.#context.limits.pauseMs, undefined, { signal }).catch(() => undefined)
  }

  async #deliver(): Promise<void> {
    this.#state ??= await loadWebhook(this.#context, this.lease)
    const state = this.#state
    if (!state) return
    const { signal } = this.#stopping
    for (let end = 'more'; end === 'more' && !this.isStopping; ) {
      const release = await this.#context.rounds.acquire(String(state.accountId), 1, signal)
      try {
        end = await runRound(this.#context, state, () => this.isStopping)
      } finally {
        release()
      }
      if (end === 'ended') this.#stopping.abort()
    }
  }
}
