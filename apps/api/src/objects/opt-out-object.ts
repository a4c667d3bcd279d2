import type { OptOut } from '@wagate/db/queries/contacts/opt-outs'
import { lidOf, numberOf } from '@wagate/shared/contact-key'
import { z } from 'zod'
import { contactFields, toContactFields } from './contact-fields.ts'

export const optOutObject = z
  .object({
    ...contactFields,
    created_at: z.iso.datetime(),
    reason: z.string().optional().describe('As given with the opt-out'),
    source: z.string().optional().describe('As given with the opt-out'),
  })
  .meta({ id: 'OptOut' })

export const exampleOptOut: z.infer<typeof optOutObject> = {
  number: '4915187654321',
  created_at: '2026-01-31T12:00:00.000Z',
}

export function toOptOutObject({
  key,
  contact,
  createdAt,
  reason,
  source,
}: OptOut): z.infer<typeof optOutObject> {
  return {
    ...toContactFields({
      number: numberOf(key),
      lid: lidOf(contact?.lidJid ?? key),
      username: contact?.username ?? null,
    }),
    created_at: createdAt.toISOString(),
    ...(reason !== null && { reason }),
    ...(source !== null && { source }),
  }
}
