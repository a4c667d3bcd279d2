import { deleteOptOut } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { exampleAddress } from '../messages/send-contract.ts'
import { contactFields, toContactFields } from '../objects/contact-fields.ts'
import { getContact, namedKey } from '../parameters/recipient.ts'
import { detailOf, optOutParameters } from './opt-out.ts'

export const optIn = defineOperation({
  name: 'opt-in',
  summary: 'Send messages of the account to a recipient again',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object(optOutParameters),
  fields: z.object({
    ...contactFields,
    was_opted_out: z.boolean().describe('false when the recipient had not opted out'),
  }),
  errors: ['missing_parameter'],
  example: {
    given: { number: exampleAddress.number },
    answer: { number: exampleAddress.number, was_opted_out: true },
  },
  async handle(given, call) {
    const { accountId } = call.principal
    const contact = await getContact(call.context.db, accountId, given)
    const wasOptedOut = await call.context.db.transaction(async (tx) => {
      const isChanged = await deleteOptOut(tx, accountId, namedKey(given))
      if (!isChanged) return false
      await audit(tx, call, { target: `account:${accountId}`, result: 'opted_in', detail: detailOf(contact) })
      return true
    })
    return { ...toContactFields(contact), was_opted_out: wasOptedOut }
  },
})
