import { type GivenPacing, pacingOf } from '@wagate/shared/pacing'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { orDefault } from '../parameters/parameter-types.ts'

/** How fast a sender sends, as it is asked for. `fallback` names whose setting "default" goes back to. */
export const paceParameters = (fallback: string, bound = '') => ({
  rate_per_minute: orDefault(0, 1_000_000)
    .optional()
    .describe(`Messages a minute; 0 is unlimited, "default" goes back to the setting of ${fallback}${bound}`),
  burst: orDefault(1, 1_000_000)
    .optional()
    .describe('Messages that may go at once after a pause; or "default"'),
  daily_cap: orDefault(0, 1_000_000_000)
    .optional()
    .describe('Messages a day of UTC, further ones wait for the next; 0 is unlimited, or "default"'),
})

/** And as it is shown: what is in force. */
export const paceFields = {
  rate_per_minute: z.int().describe('Messages a minute; 0 is unlimited'),
  burst: z.int().describe('Messages that may go at once after a pause'),
  daily_cap: z.int().describe('Messages a day of UTC, further ones wait for the next; 0 is unlimited'),
}

export function toPaceFields(given: GivenPacing, config: Config) {
  const { ratePerMinute, burst, dailyCap } = pacingOf(given, config)
  return { rate_per_minute: ratePerMinute, burst, daily_cap: dailyCap }
}
