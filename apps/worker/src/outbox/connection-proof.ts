/** A connection that has been open for this long, or on which WhatsApp acknowledged something, works. */
export const provenMs = 5000

export type ConnectionProof = {
  /** WhatsApp acknowledged something. */
  noteAcknowledged(): void
  /** Ms until the connection counts as one that works. */
  remainingMs(): number
}

export function makeConnectionProof(): ConnectionProof {
  const startedAtMs = performance.now()
  let hasAcknowledged = false
  return {
    noteAcknowledged() {
      hasAcknowledged = true
    },
    remainingMs: () => (hasAcknowledged ? 0 : Math.max(0, startedAtMs + provenMs - performance.now())),
  }
}
