import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { deviceFields } from '../objects/device-object.ts'
import { getPasskeyStep } from '../pairing/passkey-step.ts'

export const passkeyChallenge = defineOperation({
  name: 'passkey-challenge',
  summary: 'What WhatsApp asks of the passkey of an account while its sender is linked',
  methods: ['GET', 'POST'],
  changes: false,
  admits: ['key', 'session'],
  parameters: z.object(deviceLocator),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    status: z.enum(['passkey_required', 'passkey_confirmation_required']),
    challenge: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('WebAuthn request options, for `navigator.credentials.get()` on https://web.whatsapp.com'),
    code: z
      .string()
      .nullable()
      .describe('Code that the phone shows as well, once the passkey has been accepted'),
    expires_in: z.int().describe('Seconds until the linking is given up'),
  }),
  errors: ['missing_parameter', 'device_not_found', 'no_passkey_pending'],
  example: {
    given: { sender: '4915112345678' },
    answer: {
      device_id: 7,
      sender: '4915112345678',
      status: 'passkey_required',
      challenge: { challenge: 'mPz0…', rpId: 'whatsapp.com', userVerification: 'required' },
      code: null,
      expires_in: 600,
    },
  },
  async handle(located, call) {
    const { id, sender } = await getDevice(call, located)
    const { step, options, code, expiresAtMs } = await getPasskeyStep(call, id)
    return {
      device_id: id,
      sender,
      status: step,
      challenge: options === null ? null : (JSON.parse(options) as Record<string, unknown>),
      code,
      expires_in: Math.max(1, Math.round((expiresAtMs - Date.now()) / 1000)),
    }
  },
})
