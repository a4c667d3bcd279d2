import type { DeviceEvents } from '@wagate/queue/device-events'
import type { DeviceEvent } from '@wagate/shared/device-events'

/**
 * Subscriptions to the events of devices. They outlast their last request for some seconds, so that the next one of the
 * sender is subscribed before its message is stored and misses no event.
 */
export type OutcomeSubscriptions = {
  /** To be called before the message is stored. `sender` is the key of a sender of an account. */
  begin(sender: string): OutcomeSubscription
}

type OutcomeSubscription = {
  /**
   * Subscribes to the device if that is not done yet. Resolves to whether every event of the device since `begin` was
   * received, as far as this process knows. Without Redis it resolves to false.
   */
  listen(deviceId: number): Promise<boolean>
  end(): void
}

type Subscription = {
  sender: string
  deviceId: number
  requests: number
  idleSinceMs: number
  leave: (() => Promise<void>) | undefined
  /** How often the connection had been lost when the subscription was made. */
  losses: number | undefined
  subscribing: Promise<void> | undefined
}

const defaults = { keepMs: 10_000, keptMax: 1000 }

/** At most `keptMax` subscriptions are kept without a request, and for at most twice `keepMs`. */
export function makeOutcomeSubscriptions(
  { subscribe, countLosses }: Pick<DeviceEvents, 'subscribe' | 'countLosses'>,
  onEvent: (event: DeviceEvent) => void,
  { keepMs, keptMax } = defaults,
): OutcomeSubscriptions {
  const subscriptions = new Map<string, Subscription>()
  let sweep: NodeJS.Timeout | undefined

  const isLive = ({ losses }: Subscription) => losses === countLosses()

  function get(sender: string, deviceId: number): Subscription {
    const known = subscriptions.get(sender)
    // A sender that was deleted and created again has another device.
    if (known?.deviceId === deviceId) return known
    const none = { leave: undefined, losses: undefined, subscribing: undefined }
    const created = { sender, deviceId, requests: 0, idleSinceMs: 0, ...none }
    subscriptions.set(sender, created)
    if (known?.requests === 0) leave(known)
    return created
  }

  async function resubscribe(subscription: Subscription): Promise<void> {
    // Counted before, so that a loss during the call is not overlooked.
    const losses = countLosses()
    const former = subscription.leave
    subscription.leave = await subscribe(subscription.deviceId, onEvent)
    subscription.losses = losses
    await former?.()
  }

  async function ensureLive(subscription: Subscription): Promise<void> {
    if (isLive(subscription)) return
    subscription.subscribing ??= resubscribe(subscription)
      .catch(() => undefined)
      .finally(() => {
        subscription.subscribing = undefined
      })
    await subscription.subscribing
  }

  function leave(subscription: Subscription): void {
    const { sender } = subscription
    if (subscriptions.get(sender) === subscription) subscriptions.delete(sender)
    void subscription.leave?.()
  }

  function end(subscription: Subscription): void {
    subscription.requests -= 1
    if (subscription.requests > 0) return
    const isReplaced = subscriptions.get(subscription.sender) !== subscription
    if (isReplaced || subscriptions.size > keptMax) leave(subscription)
    else keep(subscription)
  }

  function keep(subscription: Subscription): void {
    subscription.idleSinceMs = performance.now()
    if (!sweep) sweepLater()
  }

  function sweepLater(): void {
    sweep = setTimeout(leaveIdle, keepMs)
    sweep.unref()
  }

  function leaveIdle(): void {
    const idle = [...subscriptions.values()].filter(({ requests }) => requests === 0)
    const isOver = ({ idleSinceMs }: Subscription) => performance.now() - idleSinceMs >= keepMs
    for (const subscription of idle.filter(isOver)) leave(subscription)
    sweep = undefined
    if (!idle.every(isOver)) sweepLater()
  }

  return {
    begin(sender) {
      let used = subscriptions.get(sender)
      if (used) used.requests += 1
      const lossesAtStart = used && isLive(used) ? used.losses : undefined
      return {
        async listen(deviceId) {
          if (used?.deviceId === deviceId && lossesAtStart === countLosses()) return true
          const wanted = get(sender, deviceId)
          if (wanted !== used) {
            wanted.requests += 1
            if (used) end(used)
            used = wanted
          }
          await ensureLive(wanted)
          return false
        },
        end() {
          if (used) end(used)
          used = undefined
        },
      }
    },
  }
}
