import { jidDecode, jidNormalizedUser } from 'baileys'

/** The number, or the LID without its server. Empty for what is no JID. */
export function userOf(jid: string): string {
  return jidDecode(jid)?.user ?? ''
}

/** Without the device. */
export function accountJid(jid: string): string {
  return jidNormalizedUser(jid)
}
