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
    .describe('Messages that may be sent in a burst after a pause; or "default"'),
  daily_cap: orDefault(0, 1_000_000_000)
    .optional()
    .describe('Messages per UTC day, further ones wait for the next day; 0 is unlimited; or "default"'),
  new_contacts_per_day: orDefault(0, 1_000_000)
    .optional()
    .describe(
      'New contacts per UTC day, messages to further ones wait for the next day; 0 is unlimited; or "default"',
    ),
})

type Given = { [Name in keyof ReturnType<typeof pacingParameters>]?: number | null | undefined }

/** The given parameters under the names of their columns. */
export function toPacing({ rate_per_minute, burst, daily_cap, new_contacts_per_day }: Given) {
  return {
    ratePerMinute: rate_per_minute,
    burst,
    dailyCap: daily_cap,
    newContactsPerDay: new_contacts_per_day,
  }
}

/** The pacing in force. */
export const pacingFields = {
  rate_per_minute: z.int().describe('Messages per minute; 0 is unlimited'),
  burst: z.int().describe('Messages that may be sent in a burst after a pause'),
  daily_cap: z.int().describe('Messages per UTC day, further ones wait for the next day; 0 is unlimited'),
  new_contacts_per_day: z
    .int()
    .describe(
      'New contacts per UTC day after the warm-up, messages to further ones wait for the next day; 0 is unlimited',
    ),
}

export function toPacingFields(settings: GivenPacing, defaults: Pacing) {
  const { ratePerMinute, burst, dailyCap, newContactsPerDay } = pacingOf(settings, defaults)
  return {
    rate_per_minute: ratePerMinute,
    burst,
    daily_cap: dailyCap,
    new_contacts_per_day: newContactsPerDay,
  }
}
