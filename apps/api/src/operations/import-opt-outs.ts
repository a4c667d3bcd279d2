import { insertOptOuts } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { exampleAddress } from '../messages/send-contract.ts'
import { phoneList } from '../parameters/phone-list.ts'
import { provenanceParameters } from './opt-out.ts'

export const numbersMax = 1000

/** Of import-opt-outs and import-opt-ins. */
export const importFields = {
  numbers: z.int().describe('Different numbers of the request'),
  changed: z.int().describe('Recipients for whom it was new'),
}

export const importOptOuts = defineOperation({
  name: 'import-opt-outs',
  summary: 'Send no more messages of the account to many recipients, as opt-out does for one',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    numbers: phoneList(numbersMax).describe(
      `Up to ${numbersMax.toLocaleString('en')} phone numbers. None is stored if one of them is not a phone number`,
    ),
    ...provenanceParameters,
  }),
  fields: z.object(importFields),
  example: {
    given: { numbers: [exampleAddress.number, '4915187654322'], source: 'former supplier' },
    answer: { numbers: 2, changed: 2 },
  },
  async handle({ numbers, reason = null, source = null }, call) {
    const { accountId } = call.principal
    const changed = await call.context.db.transaction(async (tx) => {
      const changed = await insertOptOuts(tx, accountId, numbers, { reason, source })
      if (changed === 0) return 0
      await audit(tx, call, {
        target: `account:${accountId}`,
        result: 'opted_out',
        detail: { count: changed },
      })
      return changed
    })
    return { numbers: numbers.length, changed }
  },
})
