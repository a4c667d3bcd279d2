import { findPasswordHash, insertAccount } from '@wagate/db/queries/accounts'
import { roles } from '@wagate/shared/statuses'
import { z } from 'zod'
import {
  findIdempotencyKey,
  idempotencyKeyParameter,
  idempotencyKeyReused,
} from '../changes/idempotency-key.ts'
import { audit, changeOnce } from '../changes/idempotent-change.ts'
import { makeNewKey } from '../credentials/new-key.ts'
import { hashPassword, isPassword, password } from '../credentials/passwords.ts'
import { AppError } from '../errors/app-error.ts'
import { role } from '../objects/user-object.ts'
import { defineOperation } from '../operation.ts'
import { integer, moment } from '../parameters/parameter-types.ts'

const email = z
  .string({ error: 'must be an email address' })
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.email('must be an email address').max(254, 'must have up to 254 characters'))

export const createUser = defineOperation({
  name: 'create-user',
  summary: 'Create a user account',
  methods: ['GET', 'POST'],
  changes: true,
  adminOnly: true,
  parameters: z.object({
    email: email.describe('The name of the account'),
    password: password.describe(
      '8 to 128 characters. Send it by POST: URLs are written to the logs of proxies',
    ),
    role: role.optional().describe('USER (default) or ADMIN'),
    devices_allowed: integer(0, 100_000)
      .optional()
      .describe('Devices that the account may have, 1 by default'),
    expiry: moment.optional().describe('From when on the account can only read; never by default'),
    idempotency_key: idempotencyKeyParameter,
  }),
  fields: z.object({
    user_id: z.int(),
    api_key: z.string().optional().describe('Shown only now, so not in the answer to a repetition'),
    email: z.string(),
    role: z.enum(roles),
    devices_allowed: z.int(),
    expiry: z.iso.datetime().nullable().describe('null is never'),
  }),
  errors: ['email_exists'],
  example: {
    given: { email: 'shop@example.com', password: 'correct horse battery', devices_allowed: 3 },
    answer: {
      user_id: 12,
      api_key: 'wag_…',
      email: 'shop@example.com',
      role: 'USER',
      devices_allowed: 3,
      expiry: null,
    },
  },
  async handle({ email, password, role = 'USER', devices_allowed = 1, expiry, idempotency_key }, call) {
    const idempotencyKey = findIdempotencyKey(call, idempotency_key)
    await call.charge({ limit: 'newUsers', key: String(call.account.accountId) })
    const { apiKey, key } = makeNewKey()
    const expiresAt = expiry ?? null
    const fields = { email, role, devices_allowed, expiry: expiresAt?.toISOString() ?? null }
    const { response, isReplay } = await changeOnce(
      call,
      // Without the password, which a stored SHA-256 would let somebody guess: see below.
      { key: idempotencyKey, payload: fields },
      async (tx) => {
        // In here, so that of many equal requests one has the work.
        const passwordHash = await hashPassword(password)
        const account = { email, passwordHash, role, devicesAllowed: devices_allowed, expiresAt, key }
        const created = await insertAccount(tx, account)
        if (!created) throw new AppError('email_exists', 'There is an account with this email already.')
        await audit(tx, call, { target: `account:${created.id}`, result: 'created' })
        return { user_id: created.id, ...fields }
      },
    )
    if (!isReplay) return { ...response, api_key: apiKey }
    const firstHash = await findPasswordHash(call.context.db, response.user_id)
    if (firstHash && !(await isPassword(password, firstHash))) throw idempotencyKeyReused()
    call.warn('The API key was shown in the first answer only.')
    return response
  },
})
