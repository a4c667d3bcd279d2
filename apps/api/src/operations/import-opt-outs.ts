import type { Database } from '@wagate/db/client'
import { insertOptOuts } from '@wagate/db/queries/contacts/opt-outs'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { exampleAddress } from '../messages/send-contract.ts'
import { phoneList } from '../parameters/phone-list.ts'
import { provenanceParameters } from './opt-out.ts'

const numbersMax = 1000

/** Of import-opt-outs and import-opt-ins, as `importFields`. */
export const numbers = phoneList(numbersMax).describe(
  `Up to ${numbersMax.toLocaleString('en')} phone numbers. None is stored if one of them is not a phone number`,
)

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
    numbers,
    ...provenanceParameters,
  }),
  fields: z.object(importFields),
  example: {
    given: { numbers: [exampleAddress.number, '4915187654322'], source: 'former supplier' },
    answer: { numbers: 2, changed: 2 },
  },
  async handle({ numbers, reason = null, source = null }, call) {
    const { accountId } = call.principal
    const insert = (tx: Transaction) => insertOptOuts(tx, accountId, numbers, { reason, source })
    return { numbers: numbers.length, changed: await changeAudited(call, 'opted_out', insert) }
  },
})

type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0]

/** Returns for how many recipients `change` was new, after recording that in the audit log. */
export function changeAudited(
  call: Call,
  result: 'opted_out' | 'opted_in',
  change: (tx: Transaction) => Promise<number>,
): Promise<number> {
  return call.context.db.transaction(async (tx) => {
    const count = await change(tx)
    if (count > 0)
      await audit(tx, call, { target: `account:${call.principal.accountId}`, result, detail: { count } })
    return count
  })
}
