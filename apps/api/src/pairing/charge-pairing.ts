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

/** Charges a pairing code: each one notifies the phone of the number, whoever that is. Throws `rate_limited`. */
export async function chargePairingCode(call: Call): Promise<void> {
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
