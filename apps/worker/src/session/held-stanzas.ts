/** Stanzas of one socket that are not acknowledged to WhatsApp, because they are not stored yet. */
export type HeldStanzas = {
  hold(stanza: object): void
  release(stanza: object): void
  /** Whether more should be requested. */
  hasRoom(): boolean
}

type Hooks = {
  /** There are too many, and none was stored for a while. */
  onStuck(): void
  onRelease(): void
}

const requestBelow = 100
const heldMax = 200
const stuckMs = 10_000

/** While nothing can be stored they wait in memory. WhatsApp keeps them as well, and delivers them to a later connection. */
export function makeHeldStanzas({ onStuck, onRelease }: Hooks): HeldStanzas {
  const held = new Set<object>()
  let movedAtMs = performance.now()
  return {
    hold(stanza) {
      if (held.size === 0) movedAtMs = performance.now()
      held.add(stanza)
      if (held.size > heldMax && performance.now() - movedAtMs > stuckMs) onStuck()
    },
    release(stanza) {
      held.delete(stanza)
      movedAtMs = performance.now()
      onRelease()
    },
    hasRoom: () => held.size < requestBelow,
  }
}
