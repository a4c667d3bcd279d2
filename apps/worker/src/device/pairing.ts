import { setConnection } from '@wagate/db/queries/devices/device-connection'
import { announceReplacedQr, linkDevice, refuseLink } from '@wagate/db/queries/devices/device-link'
import { writeKeyOf } from '@wagate/db/queries/statements/write-keys'
import { isSameSubscriber } from '@wagate/shared/phone'
import type { Lease } from '../ownership/lease.ts'
import { userOf } from '../session/contacts/jids.ts'
import type { AuthStore } from '../session/credentials/auth-store.ts'
import { LeaseLapsed } from '../session/credentials/persistence.ts'
import type { QrCode } from '../session/linking/qr-codes.ts'
import type { DeviceContext } from './device-context.ts'

type PairingDevice = {
  id: number
  sender: string
  lease: Lease
  /** The revision of the desired state that the QR code is shown for. */
  desiredRev: number
}

type PairingContext = Pick<DeviceContext, 'db' | 'events'>

export async function showQr(
  { db, events }: PairingContext,
  { id, lease }: PairingDevice,
  code: QrCode,
): Promise<void> {
  await setConnection(db, lease, id, { connection: 'scanning', reason: null })
  await publishQr(events, { id, lease }, code)
}

/** The one that was shown links nothing any more. This one takes its place, for as long as that was to be shown. */
export async function replaceQr(
  { db, events }: PairingContext,
  { id, lease }: PairingDevice,
  code: QrCode,
): Promise<void> {
  // Whoever reads the event asks for the code next. No other owner has shown one while the lease is valid.
  if (!lease.isValid()) throw new LeaseLapsed()
  await publishQr(events, { id, lease }, code)
  await announceReplacedQr(db, lease, id, writeKeyOf('qr', id, code.text))
}

async function publishQr(
  events: DeviceContext['events'],
  { id, lease }: Pick<PairingDevice, 'id' | 'lease'>,
  { text, expiresAtMs }: QrCode,
): Promise<void> {
  const event = { kind: 'qr', epoch: lease.epoch, text, expiresAtMs } as const
  await events.retain(id, event)
  await events.publish(id, event)
}

/**
 * A phone has scanned. If its number is not the sender's, the link is stored only to be undone: otherwise its owner
 * would receive another sender's messages, and answer for it.
 */
export async function completePairing(
  { db, events }: Pick<DeviceContext, 'db' | 'events'>,
  { id, sender, lease, desiredRev }: PairingDevice,
  auth: AuthStore,
): Promise<'linked' | 'sender_mismatch'> {
  const jid = auth.creds.me?.id ?? ''
  const creds = auth.credsRow()
  // Each link begins with a new identity.
  const key = writeKeyOf('link', id, Buffer.from(auth.creds.signedIdentityKey.public).toString('base64'))
  const link = { key, desiredRev, creds }
  if (!isSameSubscriber(sender, userOf(jid))) {
    await refuseLink(db, lease, id, { ...link, reason: 'sender_mismatch' })
    await events.clearQr(id)
    await events.publish(id, { kind: 'status', connected: false, reason: 'sender_mismatch' })
    return 'sender_mismatch'
  }
  await linkDevice(db, lease, id, { ...link, waJid: jid, waLid: auth.creds.me?.lid ?? null })
  // Only now: a passkey step that is stored, and not in Redis, would be taken for that of a former owner.
  await events.clearQr(id)
  return 'linked'
}
