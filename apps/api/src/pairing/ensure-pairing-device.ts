import type { Call } from '../call.ts'
import { ensureDevice } from '../devices/ensure-device.ts'

type Requested = { sender: string; name?: string | undefined }

/** Charges a pairing to its limits, and creates the device unless it exists. Throws `rate_limited` or `device_limit_reached`. */
export async function ensurePairingDevice(call: Call, { sender, name = sender }: Requested) {
  const { accountId } = call.principal
  await call.charge(
    { limit: 'qrCodes', key: `${accountId}:${sender}` },
    { limit: 'accountQrCodes', key: String(accountId) },
  )
  const { device } = await ensureDevice(call, { sender, name, cmsId: null, cmsVer: null })
  return device
}
