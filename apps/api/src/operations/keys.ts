import { listKeys } from '@wagate/db/queries/api-keys'
import { z } from 'zod'
import { getKeyOwner, keyOwner } from '../credentials/key-owner.ts'
import { exampleKey, keyObject, toKeyObject } from '../objects/key-object.ts'
import { defineOperation } from '../operation.ts'

export const keys = defineOperation({
  name: 'keys',
  summary: 'List the API keys of the account, without the keys themselves',
  methods: ['GET'],
  changes: false,
  parameters: z.object(keyOwner),
  fields: z.object({ keys: z.array(keyObject) }),
  errors: ['admin_required', 'account_expired', 'user_not_found'],
  example: { given: {}, answer: { keys: [exampleKey] } },
  async handle(whose, call) {
    const found = await listKeys(call.context.db, await getKeyOwner(call, whose))
    return { keys: found.map(toKeyObject) }
  },
})
