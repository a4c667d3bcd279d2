import { type GivenPacing, type Pacing, pacingOf } from '@wagate/shared/pacing'
import { z } from 'zod'
import { orDefault } from '../parameters/parameter-types.ts'

/** The parameters that set the pacing. `fallback` names the owner of the setting that `default` restores. */
export const pacingParameters = (fallback: string, bound = '') => ({
  rate_per_minute: orDefault(0, 1_000_000)
    .optional()
    .describe(`Messages per minute; 0 is unlimited, "default" restores the setting of ${fallback}${bound}`),
  burst: orDefault(1, 1_000_000)
    .optional()
    .describe('Messages that may be sent at once after a pause; or "default"'),
  daily_cap: orDefault(0, 1_000_000_000)
    .optional()
    .describe('Messages per UTC day, further ones wait for the next day; 0 is unlimited; or "default"'),
})

/** The pacing in force. */
export const pacingFields = {
  rate_per_minute: z.int().describe('Messages per minute; 0 is unlimited'),
  burst: z.int().describe('Messages that may be sent at once after a pause'),
  daily_cap: z.int().describe('Messages per UTC day, further ones wait for the next day; 0 is unlimited'),
}

export function toPacingFields(settings: GivenPacing, defaults: Pacing) {
  const { ratePerMinute, burst, dailyCap } = pacingOf(settings, defaults)
  return { rate_per_minute: ratePerMinute, burst, daily_cap: dailyCap }
}
