/** `fresh`: not sent before. `suspect`: WhatsApp ended a connection while the message was in flight. */
export type SendKind = 'fresh' | 'retry' | 'suspect'

/** Decides which message is sent next. */
export type SendTurns<Item> = {
  /** Returns the item that may be sent next; items of one kind keep their order. */
  choose(items: Item[]): Item | undefined
  started(item: Item): void
  ended(item: Item): void
}

/** How many messages of a sender may be in flight. */
const inFlightMax = 8
/** The rest stays free for messages that have not failed yet. */
const retriesInFlightMax = 4

/**
 * New messages and retries take turns, so that neither kind waits for all of the other. Only one suspect is in flight at a
 * time: if WhatsApp ends the connection again, that message is the cause.
 */
export function makeSendTurns<Item>(kindOf: (item: Item) => SendKind): SendTurns<Item> {
  const inFlight = new Map<Item, SendKind>()
  let wasFresh = false

  function count(...kinds: SendKind[]): number {
    return [...inFlight.values()].filter((kind) => kinds.includes(kind)).length
  }

  function mayStart(item: Item): boolean {
    const kind = kindOf(item)
    if (kind === 'fresh') return true
    if (kind === 'suspect' && count('suspect') > 0) return false
    return count('retry', 'suspect') < retriesInFlightMax
  }

  return {
    choose(items) {
      if (inFlight.size >= inFlightMax) return undefined
      const fresh = items.find((item) => kindOf(item) === 'fresh')
      const again = items.find((item) => kindOf(item) !== 'fresh' && mayStart(item))
      return wasFresh ? (again ?? fresh) : (fresh ?? again)
    },
    started(item) {
      const kind = kindOf(item)
      wasFresh = kind === 'fresh'
      inFlight.set(item, kind)
    },
    ended: (item) => void inFlight.delete(item),
  }
}
