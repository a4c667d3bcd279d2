import { z } from 'zod'

/** Text with these known values; later versions may return new ones. */
export function extensibleEnum(values: readonly string[]): z.ZodString {
  return z.string().meta({ 'x-extensible-enum': values })
}
