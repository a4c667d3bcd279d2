import { randomUUID } from 'node:crypto'
import { findPasswordHolder, insertAccount } from '@wagate/db/queries/accounts/accounts'
import { roles } from '@wagate/shared/statuses'
import { z } from 'zod'
import { emailExists } from '../accounts/account-errors.ts'
import { email } from '../accounts/email.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import {
  findIdempotencyKey,
  idempotencyKeyParameter,
  idempotencyKeyReused,
} from '../changes/idempotency-key.ts'
import { changeIdempotently } from '../changes/idempotent-change.ts'
import { makeNewKey } from '../credentials/api-key.ts'
import { hashPassword, isPassword, password } from '../credentials/passwords.ts'
import { role } from '../objects/user-object.ts'
import { integer, moment } from '../parameters/parameter-types.ts'

export const createUser = defineOperation({
  name: 'create-user',
  summary: 'Create a user account',
  methods: ['GET', 'POST'],
  changes: true,
  adminOnly: true,
  parameters: z.object({
    email: email.describe('Email address that identifies the account'),
    password: password
      .optional()
      .describe(
        'For `sign-in` and the page /sign-in, 8 to 128 characters. Programs need only the API key. Without it, the owner of the address can choose one with `forgot-password`. Use POST, because proxies write URLs to their logs',
      ),
    role: role.optional().describe('USER (default) or ADMIN'),
    devices_allowed: integer(0, 100_000).optional().describe('Maximum number of devices, 1 by default'),
    expiry: moment.optional().describe('Time from which the account is read-only; never by default'),
    idempotency_key: idempotencyKeyParameter,
  }),
  fields: z.object({
    user_id: z.int(),
    api_key: z.string().optional().describe('Returned once; omitted when the request is replayed'),
    email: z.string(),
    role: z.enum(roles),
    devices_allowed: z.int(),
    expiry: z.iso.datetime().nullable().describe('null means never'),
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
    await call.charge({ limit: 'newUsers', key: String(call.principal.accountId) })
    const { apiKey, key } = makeNewKey()
    const expiresAt = expiry ?? null
    const fields = { email, role, devices_allowed, expiry: expiresAt?.toISOString() ?? null }
    const { response, isReplay } = await changeIdempotently(
      call,
      // Without the password, which could be guessed from a stored SHA-256. Replays verify it with Argon2 below.
      { key: idempotencyKey, payload: fields },
      async (tx) => {
        // Inside, so that only one of many concurrent duplicates pays for the hash.
        const passwordHash = await hashPassword(password ?? randomUUID())
        const account = { email, passwordHash, role, devicesAllowed: devices_allowed, expiresAt, key }
        const created = await insertAccount(tx, account)
        if (!created) throw emailExists()
        await audit(tx, call, { target: `account:${created.id}`, result: 'created' })
        return { user_id: created.id, ...fields }
      },
    )
    if (!isReplay) return { ...response, api_key: apiKey }
    const first =
      password !== undefined && (await findPasswordHolder(call.context.db, { id: response.user_id }))
    if (first && !(await isPassword(password, first.passwordHash))) throw idempotencyKeyReused()
    call.warn('The API key was returned in the first response only.')
    return response
  },
})
