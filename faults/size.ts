/** How much is put on the system, and for how long. FAULTS=short takes the short form. */
export type Size = {
  workers: number
  senders: number
  perSecond: number
  /** Before the fault, and after it. */
  beforeMs: number
  afterMs: number
}

export const isShort = process.env.FAULTS === 'short'

export const size: Size = isShort
  ? { workers: 2, senders: 6, perSecond: 30, beforeMs: 2000, afterMs: 5000 }
  : { workers: 2, senders: 20, perSecond: 30, beforeMs: 8000, afterMs: 20_000 }

export const seed = Number(process.env.FAULTS_SEED ?? 1)
