import { deleteOptOuts } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { exampleAddress } from '../messages/send-contract.ts'
import { phoneList } from '../parameters/phone-list.ts'
import { importFields, numbersMax } from './import-opt-outs.ts'

export const importOptIns = defineOperation({
  name: 'import-opt-ins',
  summary: 'Send messages of the account to many recipients again, as opt-in does for one',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    numbers: phoneList(numbersMax).describe(
      `Up to ${numbersMax.toLocaleString('en')} phone numbers. None is stored if one of them is not a phone number`,
    ),
  }),
  fields: z.object(importFields),
  example: {
    given: { numbers: [exampleAddress.number, '4915187654322'] },
    answer: { numbers: 2, changed: 2 },
  },
  async handle({ numbers }, call) {
    const { accountId } = call.principal
    const changed = await call.context.db.transaction(async (tx) => {
      const changed = await deleteOptOuts(tx, accountId, numbers)
      if (changed === 0) return 0
      await audit(tx, call, {
        target: `account:${accountId}`,
        result: 'opted_in',
        detail: { count: changed },
      })
      return changed
    })
    return { numbers: numbers.length, changed }
  },
})
