import type { Setback } from '@wagate/shared/timeline-marks'

/**
 * What became of one attempt. `unclaimed`: canceled, or the shard has another owner. `paused`: it is for a new contact, and those are
 * paused. `retry`: to be sent again, under the same id; at once without a setback.
 */
export type SendResult =
  | { kind: 'acknowledged' | 'failed' | 'unclaimed' | 'paused' }
  | { kind: 'retry'; setback?: Setback; sentence?: string }
