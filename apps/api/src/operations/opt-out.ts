import { insertOptOut } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { exampleOptOut, optOutObject, toOptOutObject } from '../objects/opt-out-object.ts'
import { phone } from '../parameters/parameter-types.ts'

export const optOut = defineOperation({
  name: 'opt-out',
  summary: 'Send no more messages of the account to a number; those that wait fail with opted_out',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({ number: phone.describe('Phone number of the recipient') }),
  fields: optOutObject,
  example: { given: { number: exampleOptOut.number }, answer: exampleOptOut },
  async handle({ number }, call) {
    const { accountId } = call.principal
    return call.context.db.transaction(async (tx) => {
      const { optOut, isNew } = await insertOptOut(tx, accountId, number)
      const entry = { target: `account:${accountId}`, result: 'opted_out', detail: { number } }
      if (isNew) await audit(tx, call, entry)
      return toOptOutObject(optOut)
    })
  },
})
