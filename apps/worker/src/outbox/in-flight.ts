import {
  type Acknowledgement,
  isBelievable,
  type Outcome,
  type Refusal,
} from '../session/sending/outcomes.ts'

/** Why a connection ended: by the network or by us, or by WhatsApp with a stream error. */
export type ConnectionEnd = 'disconnected' | 'stream_ended'

/**
 * `unanswered`: no answer in time. In that case, and when the connection ended, it is unknown whether the message
 * arrived.
 */
export type AckResult = Acknowledgement | Refusal | { kind: 'unanswered' | ConnectionEnd }

/** The messages of one socket that WhatsApp has not answered for. */
export type InFlight = {
  /** Call before the message is sent. */
  track(message: Tracked, timeoutMs: number): Promise<AckResult>
  /**
   * Returns false when this message is not in flight. A receipt of the recipient counts as an acknowledgement: the
   * recipient cannot have what the server did not take.
   */
  resolve(waId: string, outcome: Outcome): boolean
  /** The message did not leave. */
  forget(waId: string): void
  /** The socket is gone. */
  endAll(end: ConnectionEnd): void
}

/** `addresses`: of its recipient at present, whose number may be learnt meanwhile. */
type Tracked = { waId: string; addresses(): string[] }

export function makeInFlight(): InFlight {
  const tracked = new Map<string, Pick<Tracked, 'addresses'> & { resolve(result: AckResult): void }>()

  function finish(waId: string, result: AckResult): boolean {
    tracked.get(waId)?.resolve(result)
    return tracked.delete(waId)
  }

  return {
    track: ({ waId, addresses }, timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => finish(waId, { kind: 'unanswered' }), timeoutMs)
        tracked.set(waId, {
          addresses,
          resolve(result) {
            clearTimeout(timer)
            resolve(result)
          },
        })
      }),
    resolve(waId, outcome) {
      const message = tracked.get(waId)
      if (!message || !isBelievable(outcome, message.addresses())) return false
      return finish(waId, 'saidBy' in outcome ? { kind: 'acknowledged' } : outcome)
    },
    forget: (waId) => void finish(waId, { kind: 'disconnected' }),
    endAll(end) {
      for (const waId of [...tracked.keys()]) finish(waId, { kind: end })
    },
  }
}

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
