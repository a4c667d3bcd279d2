import { accountStatuses, listAccounts } from '@wagate/db/queries/accounts/accounts'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { exampleUser, toUserObject, userObject } from '../objects/user-object.ts'
import { integer, oneOf, recordId, text } from '../parameters/parameter-types.ts'

const usersMax = 200

export const users = defineOperation({
  name: 'users',
  summary: 'List the accounts, newest first',
  methods: ['GET'],
  changes: false,
  adminOnly: true,
  parameters: z.object({
    limit: integer(1, usersMax).optional().describe(`Page size, ${usersMax} by default`),
    email: text(254).optional().describe('Only accounts with this part in their email address'),
    status: oneOf(accountStatuses)
      .optional()
      .describe('Only accounts with this status. One that is disabled and has expired counts as `disabled`'),
    before: recordId.optional().describe('Only accounts with a lower `user_id`'),
  }),
  fields: z.object({
    users: z.array(userObject),
    has_more: z.boolean().describe('There are older accounts; request them with `next_before`'),
    next_before: z.int().nullable().describe('Value of `before` for the next page; null on the last page'),
  }),
  example: {
    given: { limit: 1 },
    answer: { users: [exampleUser], has_more: true, next_before: exampleUser.user_id },
  },
  async handle({ limit = usersMax, before, email, status }, { context: { db, config } }) {
    const found = await listAccounts(db, { before, email, status, limit: limit + 1 })
    const shown = found.slice(0, limit)
    const hasMore = found.length > limit
    return {
      users: shown.map((account) => toUserObject(account, config)),
      has_more: hasMore,
      next_before: hasMore ? (shown.at(-1)?.id ?? null) : null,
    }
  },
})
