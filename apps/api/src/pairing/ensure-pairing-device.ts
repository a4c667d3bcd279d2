import type { Call } from '../call.ts'
import { getDevice } from '../devices/device-locator.ts'
import { ensureDevice } from '../devices/ensure-device.ts'

type Requested = { sender: string; name?: string | undefined }

/** Charges a pairing to its limits, and creates the device unless it exists. Throws `rate_limited`, `device_limit_reached` or `device_not_found`. */
export async function ensurePairingDevice(call: Call, { sender, name = sender }: Requested) {
  const { accountId, link } = call.principal
  await call.charge(
    { limit: 'qrCodes', key: `${accountId}:${sender}` },
    { limit: 'accountQrCodes', key: String(accountId) },
  )
  // A link never adds a device, not even in place of one that was deleted.
  if (link) return getDevice(call, { device_id: link.deviceId })
  const { device } = await ensureDevice(call, { sender, name, cmsId: null, cmsVer: null })
  return device
}
