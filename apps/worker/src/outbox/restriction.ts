/** The time in which WhatsApp does not let a sender write to new contacts. */
export type Restriction = {
  isActive(): boolean
  /** It lasts for this long from now. */
  start(ms: number): void
}

export function makeRestriction(restrictedMs: number): Restriction {
  let untilMs = performance.now() + restrictedMs
  return {
    isActive: () => performance.now() < untilMs,
    start(ms) {
      untilMs = performance.now() + ms
    },
  }
}
