import type { Call } from '../calls/call.ts'
import { getDevice } from '../devices/device-locator.ts'
import { ensureDevice } from '../devices/ensure-device.ts'

type Requested = { sender: string; name?: string | undefined }

/** The device to link, created unless it exists. Throws `device_limit_reached` or `device_not_found`. */
export async function ensurePairingDevice(call: Call, { sender, name = sender }: Requested) {
  const { link } = call.principal
  // A link never adds a device, not even in place of one that was deleted.
  if (link) return getDevice(call, { device_id: link.deviceId })
  const { device } = await ensureDevice(call, { sender, name, cmsId: null, cmsVer: null })
  return device
}
