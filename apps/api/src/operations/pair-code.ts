import type { PairingCodeEvent } from '@wagate/shared/device-events'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { deviceFields } from '../objects/device-object.ts'
import { awaitPairing, refuseLinked } from '../pairing/await-pairing.ts'
import { chargePairingRequest, makeCodeCharge } from '../pairing/charge-pairing.ts'
import { ensurePairingDevice } from '../pairing/ensure-pairing-device.ts'
import { pairingCodeRefused } from '../pairing/pairing-errors.ts'
import { flag, phone, text } from '../parameters/parameter-types.ts'

export const pairCode = defineOperation({
  name: 'pair-code',
  summary: 'Create or re-link a sender and return a code to type in WhatsApp, instead of scanning a QR code',
  methods: ['GET', 'POST'],
  changes: true,
  admits: ['key', 'session'],
  parameters: z.object({
    sender: phone.describe('Phone number of the WhatsApp account that will type the code'),
    name: text(190).optional().describe('Label, if this request creates the device'),
    force: flag.optional().describe('Log a linked device out first'),
  }),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    name: deviceFields.name,
    status: z.literal('scanning'),
    pairing_code: z
      .string()
      .length(8)
      .describe(
        'To be typed on the phone: Linked devices, Link a device, Link with phone number instead. `generate-qr` returns the QR code of the same pairing',
      ),
    expires_in: z.int().describe('Seconds until the code becomes invalid'),
  }),
  errors: [
    'device_limit_reached',
    'device_not_found',
    'already_connected',
    'proxy_failed',
    'passkey_required',
    'passkey_confirmation_required',
    'pairing_code_refused',
    'qr_timeout',
  ],
  example: {
    given: { sender: '4915112345678', name: 'Shop' },
    answer: {
      device_id: 7,
      sender: '4915112345678',
      name: 'Shop',
      status: 'scanning',
      pairing_code: 'K7QX2M9F',
      expires_in: 120,
    },
  },
  async handle({ sender, name, force = false }, call) {
    await chargePairingRequest(call, sender)
    const device = await ensurePairingDevice(call, { sender, name })
    if (!force) await refuseLinked(call, device.id)
    const charge = await makeCodeCharge(call, device.id, { force })
    const { code, expiresAtMs } = await requestPairingCode(call, device.id, { force })
    await charge.settle({ code, expiresAtMs })
    const leftMs = Math.min(expiresAtMs - Date.now(), call.context.config.devices.pairingMs)
    return {
      device_id: device.id,
      sender: device.sender,
      name: device.name,
      status: 'scanning' as const,
      pairing_code: code,
      expires_in: Math.max(1, Math.round(leftMs / 1000)),
    }
  },
})

/**
 * Asks the owner of the device for a pairing code and waits for it. Throws as `awaitPairing` does, or
 * `pairing_code_refused`.
 */
function requestPairingCode(
  call: Call,
  deviceId: number,
  { force }: { force: boolean },
): Promise<PairingCodeEvent> {
  return awaitPairing(call, deviceId, {
    what: 'pairing code',
    force,
    read(event) {
      if (event.kind === 'pairing-code-refused') throw pairingCodeRefused(event.error)
      return event.kind === 'pairing-code' ? event : undefined
    },
    async findEarlier() {
      // It is lost if the owner dies or does not show a QR code yet.
      call.context.notify.enqueueCommand({ kind: 'request-pairing-code', deviceId })
      return undefined
    },
  })
}
