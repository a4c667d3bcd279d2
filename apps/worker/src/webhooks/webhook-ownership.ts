import type { Database } from '@wagate/db/client'
import {
  claimWebhooks,
  listOwnedEpochs,
  releaseWebhooks,
  renewDispatcher,
  unregisterDispatcher,
  type WebhookLease,
} from '@wagate/db/queries/webhooks/webhook-leases'
import type { OwnedWebhook } from './owned-webhook.ts'

type Options = {
  db: Database
  id: string
  leaseMs: number
  open(lease: WebhookLease): OwnedWebhook
}

/** The webhooks that this dispatcher delivers: its share of all, as the database has them. */
export class WebhookOwnership {
  readonly #options: Options
  readonly #owned = new Map<number, OwnedWebhook>()
  #beating: Promise<void> | undefined
  #validUntilMs = 0
  #isClosing = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Those that deliver. */
  get webhooks(): OwnedWebhook[] {
    return [...this.#owned.values()].filter(({ isStopping }) => !isStopping)
  }

  /** By the monotonic clock of this process, read before the lease was renewed. */
  isLeaseValid(): boolean {
    return performance.now() < this.#validUntilMs
  }

  find(webhookId: number): OwnedWebhook | undefined {
    return this.#owned.get(webhookId)
  }

  /** Renews the lease, then claims or releases webhooks until it has its share. */
  beat(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined
    })
    return this.#beating
  }

  async #beat(): Promise<void> {
    const { db, id, leaseMs } = this.#options
    const sentMs = performance.now()
    const { leases, share } = await renewDispatcher(db, id, leaseMs)
    this.#validUntilMs = sentMs + leaseMs
    this.#dropChanged([...this.#owned.values()], leases)
    if (this.#isClosing) return
    const stays = ({ webhookId }: WebhookLease) => !this.#owned.get(webhookId)?.isStopping
    const missing = share - leases.filter(stays).length
    const claimed = missing > 0 ? await claimWebhooks(db, id, missing) : []
    for (const lease of [...leases, ...claimed]) this.#add(lease)
    for (const webhook of this.webhooks.slice(share)) this.#giveAway(webhook)
    await this.#releaseStopped()
  }

  /** Ends the rounds in progress of webhooks that have been changed, which the next beat would notice later. */
  async endRoundsOfChanged(): Promise<void> {
    const { db, id } = this.#options
    const running = this.webhooks.filter(({ isRunning }) => isRunning)
    if (running.length === 0) return
    const ids = running.map(({ lease }) => lease.webhookId)
    this.#dropChanged(running, await listOwnedEpochs(db, id, ids))
  }

  /** Finishes what is in flight. Keep beating until it resolves. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all([...this.#owned.values()].map((webhook) => webhook.stop()))
  }

  /** After the last beat. */
  async unregister(): Promise<void> {
    await this.#beating?.catch(() => undefined)
    await unregisterDispatcher(this.#options.db, this.#options.id)
  }

  /** One that still finishes under a former lease is added by a later beat. */
  #add(lease: WebhookLease): void {
    if (this.#isClosing || this.#owned.has(lease.webhookId)) return
    const webhook = this.#options.open(lease)
    this.#owned.set(lease.webhookId, webhook)
    webhook.wake()
  }

  /** Every change of a webhook ends its lease. */
  #dropChanged(webhooks: OwnedWebhook[], present: Pick<WebhookLease, 'webhookId' | 'epoch'>[]): void {
    const epochs = new Map(present.map(({ webhookId, epoch }) => [webhookId, epoch]))
    for (const webhook of webhooks) {
      if (epochs.get(webhook.lease.webhookId) !== webhook.lease.epoch) this.#drop(webhook)
    }
  }

  #drop(webhook: OwnedWebhook): void {
    const { webhookId } = webhook.lease
    void webhook.stop().then(() => {
      if (this.#owned.get(webhookId) !== webhook) return
      this.#owned.delete(webhookId)
      // Continues with what has been changed.
      return this.#beatSoon()
    })
  }

  #beatSoon(): Promise<void> {
    return this.beat().catch(() => undefined)
  }

  /**
   * Does not wait for the webhook's requests in flight, so that the dispatcher's lease is renewed meanwhile. A later beat
   * releases the webhook.
   */
  #giveAway(webhook: OwnedWebhook): void {
    void webhook.stop().then(() => this.#beatSoon())
  }

  /** What fails is repeated at the next beat. */
  async #releaseStopped(): Promise<void> {
    const { db, id } = this.#options
    const stopped = [...this.#owned.values()].filter(({ hasStopped }) => hasStopped)
    if (stopped.length === 0) return
    const ids = stopped.map(({ lease }) => lease.webhookId)
    await releaseWebhooks(db, id, ids)
    for (const webhookId of ids) this.#owned.delete(webhookId)
  }
}
