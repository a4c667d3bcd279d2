import { endSessions } from '@wagate/db/queries/accounts/sessions'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { AppError } from '../errors/app-error.ts'
import { flag, recordId } from '../parameters/parameter-types.ts'
import { requireAny } from '../parameters/require-any.ts'

export const endSession = defineOperation({
  name: 'end-session',
  summary: 'End a session of the account, or all others',
  methods: ['POST'],
  changes: true,
  admitsExpired: true,
  parameters: z.object({
    session_id: recordId.optional().describe('ID from sessions'),
    all: flag.optional().describe('true ends all but the session of this request'),
  }),
  fields: z.object({ ended: z.int().describe('Number of sessions that were open') }),
  errors: ['missing_parameter', 'session_not_found'],
  example: { given: { session_id: 41 }, answer: { ended: 1 } },
  async handle({ session_id: id, all = false }, call) {
    requireAny({ session_id: id, all: all || undefined })
    const { accountId, keyId } = call.principal
    const which = all ? { except: keyId } : { id: id as number }
    const target = all ? `account:${accountId}` : `session:${id}`
    const ended = await call.context.db.transaction(async (tx) => {
      const ended = await endSessions(tx, accountId, which)
      if (ended > 0) await audit(tx, call, { target, result: 'ended', isFree: true })
      return ended
    })
    if (ended === 0 && !all) throw new AppError('session_not_found', 'No such open session.')
    await call.context.notify.accountChanged(accountId)
    return { ended }
  },
})
