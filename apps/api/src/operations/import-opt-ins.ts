import { deleteOptOuts } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { exampleAddress } from '../messages/send-contract.ts'
import { changeAudited, importFields, numbers } from './import-opt-outs.ts'

export const importOptIns = defineOperation({
  name: 'import-opt-ins',
  summary: 'Send messages of the account to many recipients again, as opt-in does for one',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({ numbers }),
  fields: z.object(importFields),
  example: {
    given: { numbers: [exampleAddress.number, '4915187654322'] },
    answer: { numbers: 2, changed: 2 },
  },
  async handle({ numbers }, call) {
    const { accountId } = call.principal
    const changed = await changeAudited(call, 'opted_in', (tx) => deleteOptOuts(tx, accountId, numbers))
    return { numbers: numbers.length, changed }
  },
})
