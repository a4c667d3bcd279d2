/** Stanzas of one socket that are not acknowledged to WhatsApp, because they are not stored yet. */
export type UnstoredStanzas = {
  add(stanza: object): void
  release(stanza: object): void
  /** Resolves when those that are here now have been released. */
  untilReleased(): Promise<unknown>
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
  const unstored = new Map<object, Release>()
  let movedAtMs = performance.now()
  return {
    add(stanza) {
      if (unstored.size === 0) movedAtMs = performance.now()
      if (!unstored.has(stanza)) unstored.set(stanza, makeRelease())
      if (unstored.size > stanzasMax && performance.now() - movedAtMs > stuckMs) onStuck()
    },
    release(stanza) {
      unstored.get(stanza)?.resolve()
      unstored.delete(stanza)
      movedAtMs = performance.now()
      onRelease()
    },
    untilReleased: () => Promise.all([...unstored.values()].map(({ released }) => released)),
    hasRoom: () => unstored.size < requestBelow,
  }
}

type Release = { released: Promise<void>; resolve(): void }

function makeRelease(): Release {
  let resolve = () => {}
  const released = new Promise<void>((done) => {
    resolve = done
  })
  return { released, resolve }
}
