/** `fresh`: not sent before. `suspect`: WhatsApp ended a connection while it was on the wire. */
export type SendKind = 'fresh' | 'retry' | 'suspect'

/** Decides whose turn it is to be sent. */
export type SendTurns<Item> = {
  /** The item that may be sent next; items of one kind come in their order. */
  choose(items: Item[]): Item | undefined
  started(item: Item): void
  ended(item: Item): void
}

/** Messages of a sender that WhatsApp has not answered for. */
const placesMax = 8
/** Half of the places stay free for messages that nothing is known against. */
const retryPlacesMax = 4

/**
 * New messages and retries take turns, so that neither waits for all of the others. Of the suspects only one is on the
 * wire at a time: when the connection ends again, it was that one.
 */
export function makeSendTurns<Item>(kindOf: (item: Item) => SendKind): SendTurns<Item> {
  const onWire = new Map<Item, SendKind>()
  let wasFresh = false

  function count(...kinds: SendKind[]): number {
    return [...onWire.values()].filter((kind) => kinds.includes(kind)).length
  }

  function mayStart(item: Item): boolean {
    const kind = kindOf(item)
    if (kind === 'fresh') return true
    if (kind === 'suspect' && count('suspect') > 0) return false
    return count('retry', 'suspect') < retryPlacesMax
  }

  return {
    choose(items) {
      if (onWire.size >= placesMax) return undefined
      const fresh = items.find((item) => kindOf(item) === 'fresh')
      const again = items.find((item) => kindOf(item) !== 'fresh' && mayStart(item))
      return wasFresh ? (again ?? fresh) : (fresh ?? again)
    },
    started(item) {
      const kind = kindOf(item)
      wasFresh = kind === 'fresh'
      onWire.set(item, kind)
    },
    ended: (item) => void onWire.delete(item),
  }
}
