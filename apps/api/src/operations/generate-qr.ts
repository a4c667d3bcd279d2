import type { QrEvent } from '@wagate/shared/device-events'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { deviceFields } from '../objects/device-object.ts'
import { awaitPairing } from '../pairing/await-pairing.ts'
import { chargeQrCode } from '../pairing/charge-pairing.ts'
import { ensurePairingDevice } from '../pairing/ensure-pairing-device.ts'
import { throwPairingUnavailable } from '../pairing/pairing-errors.ts'
import { renderQr } from '../pairing/render-qr.ts'
import { flag, phone, text } from '../parameters/parameter-types.ts'

export const generateQr = defineOperation({
  name: 'generate-qr',
  summary: 'Create or re-link a sender and return the QR code to scan in WhatsApp',
  methods: ['GET', 'POST'],
  changes: true,
  admits: ['key', 'session'],
  parameters: z.object({
    sender: phone.describe('Phone number of the WhatsApp account that will scan'),
    name: text(190).optional().describe('Label, if this request creates the device'),
    force: flag.optional().describe('Log a linked device out first'),
  }),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    name: deviceFields.name,
    status: z.literal('scanning'),
    qr: z.base64().describe('QR code as a PNG'),
    qr_data_url: z.string().describe('The same PNG as a data: URL, for the `src` of an `img` element'),
    qr_text: z.string().describe('Text that the QR code encodes'),
    expires_in: z.int().describe('Seconds until the next QR code replaces this one'),
  }),
  errors: [
    'device_limit_reached',
    'device_not_found',
    'already_connected',
    'proxy_failed',
    'passkey_required',
    'passkey_confirmation_required',
    'qr_timeout',
  ],
  example: {
    given: { sender: '4915112345678', name: 'Shop' },
    answer: {
      device_id: 7,
      sender: '4915112345678',
      name: 'Shop',
      status: 'scanning',
      qr: 'iVBORw0KGgo=',
      qr_data_url: 'data:image/png;base64,iVBORw0KGgo=',
      qr_text: '2@x8Qj…,…,…,…',
      expires_in: 60,
    },
  },
  toPng: ({ qr }) => Uint8Array.from(Buffer.from(qr, 'base64')),
  async handle({ sender, name, force = false }, call) {
    await chargeQrCode(call, { sender, force })
    const device = await ensurePairingDevice(call, { sender, name })
    const qr = await requestQr(call, device.id, { force })
    const png = await renderQr(qr.text)
    return {
      device_id: device.id,
      sender: device.sender,
      name: device.name,
      status: 'scanning' as const,
      qr: png,
      qr_data_url: `data:image/png;base64,${png}`,
      qr_text: qr.text,
      expires_in: Math.max(1, Math.round((qr.expiresAtMs - Date.now()) / 1000)),
    }
  },
})

/** Asks the owner of the device for a QR code and waits for it. Throws as `awaitPairing` does. */
function requestQr(call: Call, deviceId: number, { force }: { force: boolean }): Promise<QrEvent> {
  return awaitPairing(call, deviceId, {
    what: 'QR code',
    force,
    read: (event) => (event.kind === 'qr' ? event : undefined),
    findEarlier: () => call.context.events.devices.findQr(deviceId).catch(throwPairingUnavailable),
  })
}
