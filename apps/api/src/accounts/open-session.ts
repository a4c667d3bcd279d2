import type { Transaction } from '@wagate/db/client'
import { insertSession } from '@wagate/db/queries/accounts/sessions'
import { hashApiKey, makeApiKey } from '../credentials/api-key.ts'
import { type SessionCookie, sessionDays } from '../credentials/session-cookie.ts'
import { clientNetwork } from '../http/client-address.ts'

/** Of an account. Opening another one ends the oldest. */
const sessionsMax = 20
const userAgentMax = 200

type Client = { findClientAddress(): string; findUserAgent(): string | undefined }

type Opened = { id: number; secret: string; expiresAt: Date }

/**
 * For a person who has just shown with the link of a mail whose account it is: the sign-in that follows comes from a known
 * network, however many passwords others have tried. Undefined for a program.
 */
export async function openSessionOfPage(
  tx: Transaction,
  { request, cookie }: { request: Client; cookie(): Pick<SessionCookie, 'isOfPage'> },
  accountId: number,
): Promise<Opened | undefined> {
  return cookie().isOfPage() ? openSession(tx, request, accountId) : undefined
}

/** Stores a session. The caller writes its secret into the cookie once it is committed. */
export async function openSession(tx: Transaction, client: Client, accountId: number): Promise<Opened> {
  const secret = makeApiKey('wag_web_')
  const expiresAt = new Date(Date.now() + sessionDays * 86_400_000)
  const key = { name: 'session', hash: hashApiKey(secret), lastFour: secret.slice(-4), expiresAt }
  const userAgent = client.findUserAgent()?.toWellFormed().replaceAll('\0', '').slice(0, userAgentMax) ?? null
  const network = clientNetwork(client.findClientAddress())
  const id = await insertSession(tx, accountId, { key, userAgent, network }, { sessionsMax })
  return { id, secret, expiresAt }
}
