import type { OptOut } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'

export const optOutObject = z
  .object({
    number: z.string().describe('Digits only'),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'OptOut' })

export const exampleOptOut: z.infer<typeof optOutObject> = {
  number: '4915187654321',
  created_at: '2026-01-31T12:00:00.000Z',
}

export function toOptOutObject({ number, createdAt }: OptOut): z.infer<typeof optOutObject> {
  return { number, created_at: createdAt.toISOString() }
}
