import { z } from 'zod'

/** Text of which these values are known; more may be added. */
export function extensibleEnum(values: readonly string[]): z.ZodString {
  return z.string().meta({ 'x-extensible-enum': values })
}
