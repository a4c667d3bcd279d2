import { insertKey } from '@wagate/db/queries/accounts/api-keys'
import { z } from 'zod'
import { getKeyOwner, keyOwner } from '../accounts/key-owner.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { findIdempotencyKey, idempotencyKeyParameter } from '../changes/idempotency-key.ts'
import { changeIdempotently } from '../changes/idempotent-change.ts'
import { makeNewKey } from '../credentials/api-key.ts'
import type { Principal } from '../credentials/principal.ts'
import { AppError } from '../errors/app-error.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { exampleKey, keyFields, toKeyObject } from '../objects/key-object.ts'
import { moment, text } from '../parameters/parameter-types.ts'

const usableMax = 50

const { key_id, name, last_four, created_at, expires_at } = keyFields

export const createKey = defineOperation({
  name: 'create-key',
  summary: 'Create an additional API key for the account',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    ...keyOwner,
    name: text(190).optional().describe('Purpose of the key'),
    expiry: moment
      .refine((value) => value.getTime() > Date.now(), 'must be in the future')
      .optional()
      .describe('Time from which the key is refused; by default that of the key that creates it, if any'),
    idempotency_key: idempotencyKeyParameter,
  }),
  fields: z.object({
    key_id,
    api_key: z.string().optional().describe('Returned once; omitted when the request is replayed'),
    name,
    last_four,
    created_at,
    expires_at,
  }),
  errors: ['admin_required', 'user_not_found', 'key_limit_reached'],
  example: {
    given: { name: 'Shop' },
    answer: {
      key_id: exampleKey.key_id,
      api_key: 'wag_…',
      name: exampleKey.name,
      last_four: exampleKey.last_four,
      created_at: exampleKey.created_at,
      expires_at: null,
    },
  },
  async handle({ name = 'default', expiry: wanted, idempotency_key, ...whose }, call) {
    const idempotencyKey = findIdempotencyKey(call, idempotency_key)
    const expiry = expiryWithin(call.principal, wanted)
    const owner = await getKeyOwner(call, whose)
    const { apiKey, key } = makeNewKey(name, expiry)
    const { response, isReplay } = await changeIdempotently(
      call,
      { key: idempotencyKey, payload: { owner, name, expiry } },
      async (tx) => {
        const created = await insertKey(tx, owner, { ...key, createdBy: call.principal.keyId }, { usableMax })
        if (!created) {
          throw new AppError('key_limit_reached', `The account has ${usableMax} keys. Revoke one first.`)
        }
        await audit(tx, call, { target: `key:${created.id}`, result: 'created' })
        const { last_used_at: _, revoked_at: __, created_by: ___, ...shown } = toKeyObject(created)
        return shown
      },
    )
    if (!isReplay) return { ...response, api_key: apiKey }
    call.warn('The API key was returned in the first response only.')
    return response
  },
})

/**
 * Otherwise an expiring or stolen key could extend its own life. Keys of an ADMIN may create any key, as may a person, whose
 * session ends for other reasons.
 */
function expiryWithin({ keyExpiresAt, role, isSession }: Principal, wanted: Date | undefined): Date | null {
  if (role === 'ADMIN' || isSession || !keyExpiresAt) return wanted ?? null
  if (!wanted || wanted <= keyExpiresAt) return wanted ?? keyExpiresAt
  const latest = keyExpiresAt.toISOString()
  throw invalidParameter('expiry', `must not be after ${latest}, when the key of this request expires`)
}
