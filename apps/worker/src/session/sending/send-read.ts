import { phoneJid } from '@wagate/shared/contact-key'
import { isLidUser, S_WHATSAPP_NET, type WAMessageKey, type WASocket } from 'baileys'
import type { ReceivedSource } from '../receiving/received-source.ts'

type Source = { waId: string | null; number: string | null; contactJid: ReceivedSource['contactJid'] }

const answerMs = 5000

/** Undefined for a message that no receipt can name: its id or its address was replaced, or it is not stored any more. */
export function readKeyOf({ waId, number, contactJid }: Source): WAMessageKey | undefined {
  const remoteJid = isLidUser(contactJid ?? '') ? contactJid : number ? phoneJid(number) : null
  if (!remoteJid || !waId || waId.startsWith('sha256:')) return undefined
  return { id: waId, remoteJid, fromMe: false }
}

/**
 * Tells contacts that their messages were read, or only the devices of the account if its person has turned read receipts
 * off. Rejects when WhatsApp may not have them: it answers the ping only after what was sent before.
 */
export async function sendRead(sock: WASocket, keys: WAMessageKey[]): Promise<void> {
  if (keys.length === 0) return
  await sock.readMessages(keys)
  const ping = {
    tag: 'iq',
    attrs: { id: sock.generateMessageTag(), to: S_WHATSAPP_NET, type: 'get', xmlns: 'w:p' },
    content: [{ tag: 'ping', attrs: {} }],
  }
  if (!(await sock.query(ping, answerMs))) throw new Error('WhatsApp did not answer after the receipts')
}
