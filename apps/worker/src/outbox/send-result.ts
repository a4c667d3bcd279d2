import type { Setback } from '@wagate/shared/timeline-marks'

/**
 * What became of one attempt. `unclaimed`: canceled, or the shard has another owner. `retry`: to be sent again, under the same id; at once without a setback.
 */
export type SendResult =
  | { kind: 'acknowledged' | 'failed' | 'unclaimed' }
  | { kind: 'retry'; setback?: Setback; sentence?: string }
