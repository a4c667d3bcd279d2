/** Stanzas of one socket that are not acknowledged to WhatsApp, because they are not stored yet. */
export type UnstoredStanzas = {
  add(stanza: object): void
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
const stanzasMax = 200
const stuckMs = 10_000

/** While nothing can be stored they wait in memory. WhatsApp keeps them as well, and delivers them to a later connection. */
export function makeUnstoredStanzas({ onStuck, onRelease }: Hooks): UnstoredStanzas {
  const unstored = new Set<object>()
  let movedAtMs = performance.now()
  return {
    add(stanza) {
      if (unstored.size === 0) movedAtMs = performance.now()
      unstored.add(stanza)
      if (unstored.size > stanzasMax && performance.now() - movedAtMs > stuckMs) onStuck()
    },
    release(stanza) {
      unstored.delete(stanza)
      movedAtMs = performance.now()
      onRelease()
    },
    hasRoom: () => unstored.size < requestBelow,
  }
}
