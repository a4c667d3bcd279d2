import { endSessions } from '@wagate/db/queries/accounts/sessions'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import type { Principal } from '../credentials/principal.ts'
import { AppError } from '../errors/app-error.ts'

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

/** Throws `credential_not_allowed` for an API key. */
function requireSession({ principal }: { principal: Principal }): Principal {
  if (principal.isSession) return principal
  throw new AppError('credential_not_allowed', 'An API key has no session. Revoke it with revoke-key.')
}
