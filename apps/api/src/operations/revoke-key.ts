import { revokeKey as revoke } from '@wagate/db/queries/accounts/api-keys'
import { z } from 'zod'
import { getKeyOwner, keyOwner } from '../accounts/key-owner.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { AppError } from '../errors/app-error.ts'
import { exampleKey, keyObject, toKeyObject } from '../objects/key-object.ts'
import { recordId } from '../parameters/parameter-types.ts'

export const revokeKey = defineOperation({
  name: 'revoke-key',
  summary: 'Revoke an API key; all API processes refuse it within a second',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    ...keyOwner,
    key_id: recordId.describe('ID from keys'),
  }),
  fields: keyObject,
  errors: ['admin_required', 'user_not_found', 'key_not_found', 'last_key'],
  example: {
    given: { key_id: exampleKey.key_id },
    answer: { ...exampleKey, revoked_at: '2026-01-31T12:01:00.000Z' },
  },
  async handle({ key_id, ...whose }, call) {
    const { db, notify } = call.context
    const owner = await getKeyOwner(call, whose)
    const key = await db.transaction(async (tx) => {
      // An account that locks itself out needs an ADMIN. ADMINs may revoke another account's last key on purpose.
      const done = await revoke(tx, owner, key_id, { keepLast: owner === call.principal.accountId })
      if (!done) throw new AppError('key_not_found', 'The account has no such key.')
      if (done.outcome === 'last_key') {
        throw new AppError(
          'last_key',
          'This is the last usable key of the account. Create another one first.',
        )
      }
      if (done.outcome === 'revoked') {
        // Possible also for an account whose stolen key has used up its changes.
        await audit(tx, call, { target: `key:${key_id}`, result: 'revoked', isFree: true })
      }
      return done.key
    })
    await notify.accountChanged(owner)
    return toKeyObject(key)
  },
})
