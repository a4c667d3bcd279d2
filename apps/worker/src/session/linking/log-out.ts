import { S_WHATSAPP_NET, type WASocket } from 'baileys'

const confirmationMs = 5000

/**
 * Removes this companion from the phone. Resolves to true once WhatsApp has confirmed it by its answer. WhatsApp may also
 * confirm it by closing the connection: then the socket's own close event carries code 401.
 */
export async function removeCompanion(sock: WASocket): Promise<boolean> {
  const jid = sock.authState.creds.me?.id
  if (!jid) return true
  try {
    await sock.query(
      {
        tag: 'iq',
        attrs: { to: S_WHATSAPP_NET, type: 'set', id: sock.generateMessageTag(), xmlns: 'md' },
        content: [{ tag: 'remove-companion-device', attrs: { jid, reason: 'user_initiated' } }],
      },
      confirmationMs,
    )
    return true
  } catch {
    return false
  }
}
