import { listOptOuts } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { exampleOptOut, optOutObject, toOptOutObject } from '../objects/opt-out-object.ts'
import { integer, text } from '../parameters/parameter-types.ts'

const optOutsMax = 200
const addressCharsMax = 190

export const optOuts = defineOperation({
  name: 'opt-outs',
  summary: 'List the recipients that have opted out of messages of the account, by number',
  methods: ['GET'],
  changes: false,
  parameters: z.object({
    limit: integer(1, optOutsMax).optional().describe(`Page size, ${optOutsMax} by default`),
    after: text(addressCharsMax).optional().describe('`next_after` of the previous page'),
  }),
  fields: z.object({
    opt_outs: z.array(optOutObject),
    next_after: z.string().nullable().describe('Value of `after` for the next page; null on the last page'),
  }),
  example: { given: { limit: 1 }, answer: { opt_outs: [exampleOptOut], next_after: null } },
  async handle({ limit = optOutsMax, after }, { context: { db }, principal }) {
    const found = await listOptOuts(db, principal.accountId, { after, limit: limit + 1 })
    const shown = found.slice(0, limit)
    return {
      opt_outs: shown.map(toOptOutObject),
      next_after: found.length > limit ? (shown.at(-1)?.key ?? null) : null,
    }
  },
})
