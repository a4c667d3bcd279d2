import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { waitForDevice } from '../events/wait-for-device.ts'
import { deviceFields } from '../objects/device-object.ts'
import { pairingUnavailable, throwPairingUnavailable } from '../pairing/pairing-errors.ts'
import {
  findLinkEnd,
  findPasskeyStep,
  getPasskeyStep,
  noPasskeyPending,
  passkeyRefused,
} from '../pairing/passkey-step.ts'

/** WhatsApp and the phone take part. */
const waitMs = 60_000

const base64url = z.string().regex(/^[\w-]+$/)
const assertionObject = z.object({
  id: base64url,
  rawId: base64url,
  response: z.object({ clientDataJSON: base64url, authenticatorData: base64url, signature: base64url }),
})
const message = 'must be the JSON of an assertion, as navigator.credentials.get() returns it'
const charactersMax = 16_384
/** As JSON. */
const assertion = z.union([z.string(), z.looseObject({})], { error: message }).transform((given, issues) => {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  if (text.length <= charactersMax && assertionObject.safeParse(readJson(text)).success) return text
  issues.addIssue({ code: 'custom', message })
  return z.NEVER
})

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const passkeyAssertion = defineOperation({
  name: 'passkey-assertion',
  summary: 'Hand WhatsApp the assertion of a passkey, to link a sender',
  methods: ['POST'],
  changes: true,
  admits: ['key', 'session'],
  parameters: z.object({
    ...deviceLocator,
    assertion: assertion.describe('Assertion for the present challenge, as JSON or as its text'),
  }),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    status: deviceFields.status.describe(
      '`connected`, `passkey_confirmation_required` if the phone asks to compare codes, or what became of the linking instead',
    ),
    status_reason: deviceFields.status_reason,
    code: z
      .string()
      .nullable()
      .describe(
        'Code that the phone shows as well: compare them, then call passkey-confirm. Null without a comparison',
      ),
    expires_in: z.int().nullable().describe('Seconds until the linking is given up, null when it is over'),
  }),
  errors: ['missing_parameter', 'device_not_found', 'no_passkey_pending', 'passkey_refused'],
  example: {
    given: {
      sender: '4915112345678',
      assertion: {
        id: 'gV7pQmXc3ETrd0bfIeOwEA',
        rawId: 'gV7pQmXc3ETrd0bfIeOwEA',
        type: 'public-key',
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
          authenticatorData: 'xGzvgq0bVGR3WR0A',
          signature: 'MEUCIQDqbLh1',
        },
      },
    },
    answer: {
      device_id: 7,
      sender: '4915112345678',
      status: 'connected',
      code: null,
      expires_in: null,
    },
  },
  async handle({ assertion, ...located }, call) {
    const { db, events, notify } = call.context
    const { id, sender } = await getDevice(call, located)
    const { step } = await getPasskeyStep(call, id)
    if (step !== 'passkey_required') throw noPasskeyPending()
    let refusal: string | undefined
    const found = await waitForDevice(call, id, {
      isRelevant(event) {
        if (event.kind === 'passkey-refused') refusal = event.error
        return true
      },
      async begin() {
        await db.transaction((tx) => audit(tx, call, { target: `device:${id}`, result: 'submitted' }))
        await events.devices.leaveAssertion(id, assertion).catch(throwPairingUnavailable)
        call.deadline.extend(waitMs)
      },
      async find() {
        if (refusal !== undefined) throw passkeyRefused(refusal)
        const present = await findPasskeyStep(call, id)
        if (!present) return findEnd(call, id)
        const { step: status, code, expiresAtMs } = present
        if (code !== null) {
          return { status, code, expires_in: Math.max(1, Math.round((expiresAtMs - Date.now()) / 1000)) }
        }
        // It is lost if the owner has just begun to take commands. The assertion is taken once.
        notify.enqueueCommand({ kind: 'submit-passkey', deviceId: id })
        return undefined
      },
      forMs: waitMs,
      withoutRedis: pairingUnavailable,
    })
    if (!found) throw passkeyRefused('timeout')
    return { device_id: id, sender, ...found }
  },
})

/** The phone has linked the sender without asking to compare codes. Throws if the step was ended otherwise. */
async function findEnd(call: Call, deviceId: number) {
  const end = await findLinkEnd(call, deviceId)
  if (end && end.status !== 'connected' && end.status !== 'disconnected') throw noPasskeyPending()
  return end && { ...end, code: null, expires_in: null }
}
