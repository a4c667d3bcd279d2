import { listKeys } from '@wagate/db/queries/accounts/api-keys'
import { z } from 'zod'
import { getKeyOwner, keyOwner } from '../accounts/key-owner.ts'
import { defineOperation } from '../calls/operation.ts'
import { exampleKey, keyObject, toKeyObject } from '../objects/key-object.ts'
import { pageFields, pageParameters, readRecordPage } from '../objects/record-page.ts'

export const keys = defineOperation({
  name: 'keys',
  summary: 'List the API keys of the account, without the keys themselves',
  methods: ['GET'],
  changes: false,
  parameters: z.object({ ...keyOwner, ...pageParameters('key_id') }),
  fields: z.object({ keys: z.array(keyObject).describe('Sorted by `key_id`'), ...pageFields }),
  errors: ['admin_required', 'account_expired', 'user_not_found'],
  example: { given: {}, answer: { keys: [exampleKey], has_more: false, next_after: null } },
  async handle({ limit, after, ...whose }, call) {
    const accountId = await getKeyOwner(call, whose)
    const { records, ...page } = await readRecordPage(limit, (rows) =>
      listKeys(call.context.db, accountId, { after, limit: rows }),
    )
    return { keys: records.map(toKeyObject), ...page }
  },
})
