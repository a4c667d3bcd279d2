import type { KeyRecord } from '@wagate/db/queries/api-keys'
import { z } from 'zod'

export const keyFields = {
  key_id: z.int(),
  name: z.string(),
  last_four: z.string().describe('The last four characters of the key'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable().describe('null is never'),
  last_used_at: z.iso.datetime().nullable().describe('Exact to a minute'),
  revoked_at: z.iso.datetime().nullable(),
}

export function toKeyObject(key: KeyRecord): z.infer<z.ZodObject<typeof keyFields>> {
  return {
    key_id: key.id,
    name: key.name,
    last_four: key.lastFour,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  }
}
