import { deleteOptOut } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { exampleOptOut } from '../objects/opt-out-object.ts'
import { phone } from '../parameters/parameter-types.ts'

export const optIn = defineOperation({
  name: 'opt-in',
  summary: 'Send messages of the account to a number again',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({ number: phone.describe('Phone number of the recipient') }),
  fields: z.object({
    number: z.string(),
    was_opted_out: z.boolean().describe('false when the recipient had not opted out'),
  }),
  example: {
    given: { number: exampleOptOut.number },
    answer: { number: exampleOptOut.number, was_opted_out: true },
  },
  async handle({ number }, call) {
    const { accountId } = call.principal
    const wasOptedOut = await call.context.db.transaction(async (tx) => {
      const isChanged = await deleteOptOut(tx, accountId, number)
      if (!isChanged) return false
      await audit(tx, call, { target: `account:${accountId}`, result: 'opted_in', detail: { number } })
      return true
    })
    return { number, was_opted_out: wasOptedOut }
  },
})
