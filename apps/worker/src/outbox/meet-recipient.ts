import type { WASocket } from 'baileys'
import { userOf } from './look-up.ts'

/**
 * Asks WhatsApp for the devices of a recipient to whom the sender has not written yet, and for their keys. Baileys
 * would do so while it sends, with the sender's lock in its hands: no other message could leave meanwhile.
 */
export async function meetRecipient(sock: WASocket, recipient: string): Promise<void> {
  if (await sock.userDevicesCache.get(userOf(recipient))) return
  const devices = await sock.getUSyncDevices([recipient], true, false)
  if (devices.length === 0) throw new Error('WhatsApp named no device of the recipient')
  await sock.assertSessions(devices.map(({ jid }) => jid))
}
