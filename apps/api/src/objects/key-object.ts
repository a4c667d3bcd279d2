import type { KeyRecord } from '@wagate/db/queries/accounts/api-keys'
import { z } from 'zod'

export const keyFields = {
  key_id: z.int(),
  name: z.string().describe('Purpose of the key'),
  last_four: z.string().describe('Last four characters of the key'),
  created_at: z.iso.datetime(),
  created_by: z
    .int()
    .nullable()
    .describe('`key_id` of the key that created it; null for the first key of an account'),
  expires_at: z.iso.datetime().nullable().describe('null means never'),
  last_used_at: z.iso.datetime().nullable().describe('Accurate to the minute'),
  revoked_at: z.iso.datetime().nullable(),
}

export const keyObject = z.object(keyFields).meta({ id: 'Key' })

type KeyObject = z.infer<typeof keyObject>

export const exampleKey: KeyObject = {
  key_id: 31,
  name: 'Shop',
  last_four: 'x7Qm',
  created_at: '2026-01-31T11:50:00.000Z',
  created_by: 30,
  expires_at: null,
  last_used_at: '2026-01-31T12:00:00.000Z',
  revoked_at: null,
}

export function toKeyObject(key: KeyRecord): KeyObject {
  return {
    key_id: key.id,
    name: key.name,
    last_four: key.lastFour,
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  }
}
