import { setConnection } from '@wagate/db/queries/device-connection'
import { linkDevice, refuseLink } from '@wagate/db/queries/device-link'
import { isSameSubscriber } from '@wagate/shared/phone'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import type { AuthStore } from '../session/auth-store.ts'
import { userOf } from '../session/jids.ts'

type PairingDevice = {
  id: number
  sender: string
  lease: Lease
  /** The revision of the desired state that the QR code is shown for. */
  desiredRev: number
}

export async function showQr(
  { db, events }: Pick<DeviceContext, 'db' | 'events'>,
  { id, lease }: PairingDevice,
  qr: { text: string; lifeMs: number },
): Promise<void> {
  await setConnection(db, lease, id, { connection: 'scanning', reason: null })
  const event = {
    kind: 'qr',
    epoch: lease.epoch,
    text: qr.text,
    expiresAtMs: Date.now() + qr.lifeMs,
  } as const
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
  await events.clearQr(id)
  if (!isSameSubscriber(sender, userOf(jid))) {
    await refuseLink(db, lease, id, { desiredRev, creds, reason: 'sender_mismatch' })
    await events.publish(id, { kind: 'status', connected: false, reason: 'sender_mismatch' })
    return 'sender_mismatch'
  }
  await linkDevice(db, lease, id, { desiredRev, waJid: jid, waLid: auth.creds.me?.lid ?? null, creds })
  return 'linked'
}
