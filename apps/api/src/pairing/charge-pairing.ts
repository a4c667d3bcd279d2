import { createHash } from 'node:crypto'
import { findPairing } from '@wagate/db/queries/devices/device-desired-state'
import { findDevice } from '@wagate/db/queries/devices/devices'
import type { Call } from '../calls/call.ts'
import { isShown } from './current-code.ts'

/** Charges a QR code, unless one is shown that is still valid. Throws `rate_limited`. */
export async function chargeQrCode(
  call: Call,
  { sender, force }: { sender: string; force: boolean },
): Promise<void> {
  if (!force && (await isShowingQr(call, sender))) return
  const { accountId, link } = call.principal
  // A person with a link must not use up the codes of the account.
  if (link) return call.charge({ limit: 'linkQrCodes', key: String(link.id) })
  await call.charge(...ofAccount(accountId, sender))
}

/** Charges a request for a pairing code, whatever becomes of it. Throws `rate_limited`. */
export async function chargePairingRequest(call: Call, sender: string): Promise<void> {
  const { accountId, link } = call.principal
  if (!link) await call.charge(...ofAccount(accountId, sender))
}

/**
 * Charges pairing codes: each one notifies the phone of the number, whoever that is. A code that was given out before and is
 * still valid notifies no phone, so a page may be loaded again. Throws `rate_limited`.
 */
export async function makeCodeCharge(call: Call, deviceId: number, { force }: { force: boolean }) {
  const { devices } = call.context.events
  // Without Redis there will be no code.
  const noted = force ? undefined : await devices.findNotedCode(deviceId).catch(() => undefined)
  if (noted === undefined) await chargePairingCode(call)
  return {
    /** To be called with the code before it is returned. */
    async settle({ code, expiresAtMs }: { code: string; expiresAtMs: number }): Promise<void> {
      const hash = createHash('sha256').update(code).digest('base64url')
      if (noted !== undefined && noted !== hash) {
        // It is another one after all. If it is refused, so are the next ones before they notify the phone.
        await devices.forgetCode(deviceId)
        await chargePairingCode(call)
      }
      await devices.noteCode(deviceId, { hash, expiresAtMs })
    },
  }
}

async function chargePairingCode(call: Call): Promise<void> {
  const { accountId, link } = call.principal
  if (!link) return call.charge({ limit: 'pairingCodes', key: String(accountId) })
  const ofLinks = { limit: 'pairingCodes', key: `${accountId}:links` } as const
  await call.charge({ limit: 'linkPairingCodes', key: String(link.id) }, ofLinks)
}

const ofAccount = (accountId: number, sender: string) =>
  [
    { limit: 'qrCodes', key: `${accountId}:${sender}` },
    { limit: 'accountQrCodes', key: String(accountId) },
  ] as const

async function isShowingQr({ context, principal }: Call, sender: string): Promise<boolean> {
  const { db, events, config } = context
  const { accountId } = principal
  const device = await findDevice(db, accountId, { sender }, config.devices.statusGraceMs)
  if (!device) return false
  const pairing = await findPairing(db, accountId, device.id)
  if (!pairing?.isWanted || pairing.isLinked) return false
  // Without Redis there is none.
  const qr = await events.devices.findQr(device.id).catch(() => undefined)
  return isShown(qr, pairing)
}
