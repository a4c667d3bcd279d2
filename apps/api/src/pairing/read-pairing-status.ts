import { hash } from 'node:crypto'
import { findPairing } from '@wagate/db/queries/devices/device-desired-state'
import type { Call } from '../calls/call.ts'
import { getDevice } from '../devices/device-locator.ts'
import { toDeviceObject } from '../objects/device-object.ts'
import { isShown } from './current-code.ts'
import { throwPairingUnavailable } from './pairing-errors.ts'
import { renderQr } from './render-qr.ts'

/** Throws `device_not_found` or `unavailable`. */
export async function readPairingStatus(call: Call, deviceId: number) {
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
