import type { AuditDetail } from '@wagate/db/queries/accounts/audit-log'
import type { Contact } from '@wagate/db/queries/contacts/known-contacts'
import { insertOptOut } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { exampleAddress } from '../messages/send-contract.ts'
import { exampleOptOut, optOutObject, toOptOutObject } from '../objects/opt-out-object.ts'
import { lid, phone, text } from '../parameters/parameter-types.ts'
import { unlessGiven } from '../parameters/parse-parameters.ts'
import { getContact, namedKey } from '../parameters/recipient.ts'

/** Of opt-out and opt-in. */
export const optOutParameters = {
  number: unlessGiven(
    ['lid'],
    phone.optional().describe('Phone number of the recipient. Required without `lid`'),
  ),
  lid: lid.optional().describe('LID of the recipient, instead of `number`'),
}

/** Of opt-out and import-opt-outs. */
export const provenanceParameters = {
  reason: text(190).optional().describe('Why, such as `complaint`; shown by `opt-outs`'),
  source: text(190)
    .optional()
    .describe('Where it comes from, such as the name of a list; shown by `opt-outs`'),
}

/** For the audit log, of what names the contact. */
export const detailOf = ({ number, lid }: Pick<Contact, 'number' | 'lid'>): AuditDetail => ({
  ...(number !== null && { number }),
  ...(lid !== null && { lid }),
})

export const optOut = defineOperation({
  name: 'opt-out',
  summary: 'Send no more messages of the account to a recipient; those that wait fail with opted_out',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({ ...optOutParameters, ...provenanceParameters }),
  fields: optOutObject,
  errors: ['missing_parameter'],
  example: { given: { number: exampleAddress.number }, answer: exampleOptOut },
  async handle({ reason = null, source = null, ...given }, call) {
    const { accountId } = call.principal
    const contact = await getContact(call.context.db, accountId, given)
    return call.context.db.transaction(async (tx) => {
      const { optOut, isNew } = await insertOptOut(tx, accountId, namedKey(given), { reason, source })
      const entry = { target: `account:${accountId}`, result: 'opted_out', detail: detailOf(contact) }
      if (isNew) await audit(tx, call, entry)
      return toOptOutObject(optOut)
    })
  },
})
