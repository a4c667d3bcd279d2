import { hash } from 'node:crypto'
import { findPairing } from '@wagate/db/queries/devices/device-desired-state'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { waitForDevice } from '../events/wait-for-device.ts'
import { deviceFields, toDeviceObject } from '../objects/device-object.ts'
import { isShown } from '../pairing/current-code.ts'
import { throwPairingUnavailable } from '../pairing/pairing-errors.ts'
import { renderQr } from '../pairing/render-qr.ts'
import { text } from '../parameters/parameter-types.ts'

const waitMs = 20_000

export const pairingStatus = defineOperation({
  name: 'pairing-status',
  summary: 'Follow the linking of a sender: its status and the current QR code, with a wait for changes',
  methods: ['GET', 'POST'],
  changes: false,
  admits: ['key', 'session'],
  parameters: z.object({
    ...deviceLocator,
    after: text(64)
      .optional()
      .describe(
        `\`version\` of an earlier answer. Waits up to ${waitMs / 1000} s for a status or QR code that differs from it`,
      ),
  }),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    name: deviceFields.name,
    status: deviceFields.status,
    status_reason: deviceFields.status_reason,
    qr_data_url: z
      .string()
      .nullable()
      .describe(
        'QR code to scan now, as a data: URL with a PNG. null while there is none. generate-qr starts a pairing',
      ),
    expires_in: z.int().nullable().describe('Seconds until the next QR code replaces this one'),
    version: z.string().describe('Changes with the status and the QR code'),
  }),
  errors: ['missing_parameter', 'device_not_found'],
  example: {
    given: { sender: '4915112345678' },
    answer: {
      device_id: 7,
      sender: '4915112345678',
      name: 'Shop',
      status: 'scanning',
      qr_data_url: 'data:image/png;base64,iVBORw0KGgo=',
      expires_in: 20,
      version: 'Zk3vJ0mWq1x8',
    },
  },
  async handle({ after, ...located }, call) {
    const { id } = await getDevice(call, located)
    const read = () => readPairingStatus(call, id)
    const now = await read()
    if (after === undefined || now.version !== after) return now
    call.deadline.extend(waitMs)
    const changed = await waitForDevice(call, id, {
      isRelevant: () => true,
      async find() {
        const found = await read()
        return found.version === after ? undefined : found
      },
      forMs: waitMs,
      abort: call.request.findDisconnect(),
    })
    return changed ?? now
  },
})

/** Throws `device_not_found` or `unavailable`. */
async function readPairingStatus(call: Call, deviceId: number) {
  const device = toDeviceObject(await getDevice(call, { device_id: deviceId }), call.context.config)
  const { device_id, sender, name, status, status_reason } = device
  const qr = status === 'scanning' ? await findCurrentQr(call, deviceId) : undefined
  return {
    device_id,
    sender,
    name,
    status,
    ...(status_reason !== undefined && { status_reason }),
    qr_data_url: qr ? `data:image/png;base64,${await renderQr(qr.text)}` : null,
    expires_in: qr ? Math.max(1, Math.round((qr.expiresAtMs - Date.now()) / 1000)) : null,
    version: hash('sha256', JSON.stringify([status, status_reason, qr?.text]), 'base64url').slice(0, 22),
  }
}

/** Undefined before the owner shows one: that of a former owner, or of a connection that has ended, links nothing. */
async function findCurrentQr({ context, principal }: Call, deviceId: number) {
  const [qr, pairing] = await Promise.all([
    context.events.devices.findQr(deviceId).catch(throwPairingUnavailable),
    findPairing(context.db, principal.accountId, deviceId),
  ])
  return pairing && isShown(qr, pairing) ? qr : undefined
}
