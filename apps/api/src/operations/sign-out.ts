import { endSessions } from '@wagate/db/queries/accounts/sessions'
import { z } from 'zod'
import { requireSession } from '../accounts/require-session.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'

export const signOut = defineOperation({
  name: 'sign-out',
  summary: 'End the session of the cookie',
  methods: ['POST'],
  changes: true,
  admitsExpired: true,
  parameters: z.object({}),
  fields: z.object({ session_id: z.int() }),
  example: { given: {}, answer: { session_id: 41 } },
  async handle(_, call) {
    const { accountId, keyId } = requireSession(call)
    await call.context.db.transaction(async (tx) => {
      const ended = await endSessions(tx, accountId, { id: keyId })
      if (ended > 0) await audit(tx, call, { target: `session:${keyId}`, result: 'ended', isFree: true })
    })
    await call.context.notify.accountChanged(accountId)
    call.cookie().clear()
    return { session_id: keyId }
  },
})
