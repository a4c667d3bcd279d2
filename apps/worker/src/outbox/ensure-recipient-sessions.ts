import type { WASocket } from 'baileys'
import { userOf } from './look-up.ts'

/**
 * Fetches the devices of a recipient to whom the sender has not written yet, and establishes Signal sessions with them.
 * Baileys would do so during the send, while holding the sender's lock, which would block its other messages.
 */
export async function ensureRecipientSessions(sock: WASocket, recipient: string): Promise<void> {
  if (await sock.userDevicesCache.get(userOf(recipient))) return
  const devices = await sock.getUSyncDevices([recipient], true, false)
  if (devices.length === 0) throw new Error('WhatsApp named no device of the recipient')
  await sock.assertSessions(devices.map(({ jid }) => jid))
}
