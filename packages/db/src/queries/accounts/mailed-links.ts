import type { Role } from '@wagate/shared/statuses'
import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { advisoryLocks } from '../../locks.ts'
import { type MailedLinkPurpose, mailedLinks } from '../../schema/mailed-links.ts'

export type { MailedLinkPurpose }

export type NewMailedLink = {
  purpose: MailedLinkPurpose
  email: string
  /** Of a new password or a new email address. */
  accountId?: number
  hash: Buffer
  forMs: number
  role?: Role
  devicesAllowed?: number
  accountExpiresAt?: Date | null
}

export type MailedLink = Pick<
  typeof mailedLinks.$inferSelect,
  'id' | 'purpose' | 'email' | 'accountId' | 'role' | 'devicesAllowed' | 'accountExpiresAt'
>

const shown = {
  id: mailedLinks.id,
  purpose: mailedLinks.purpose,
  email: mailedLinks.email,
  accountId: mailedLinks.accountId,
  role: mailedLinks.role,
  devicesAllowed: mailedLinks.devicesAllowed,
  accountExpiresAt: mailedLinks.accountExpiresAt,
}

export async function insertMailedLink(
  db: Pick<Database, 'insert'>,
  { forMs, ...link }: NewMailedLink,
): Promise<void> {
  const expiresAt = sql`now() + ${forMs}::float8 * interval '1 ms'`
  await db.insert(mailedLinks).values({ ...link, expiresAt })
}

const isValid = (hash: Buffer, purposes: MailedLinkPurpose[]) =>
  and(
    eq(mailedLinks.hash, hash),
    inArray(mailedLinks.purpose, purposes),
    gt(mailedLinks.expiresAt, sql`now()`),
  )

/** Undefined when the link is unknown, was used, or has expired. */
export async function findMailedLink(
  db: Pick<Database, 'select'>,
  hash: Buffer,
  purposes: MailedLinkPurpose[],
): Promise<MailedLink | undefined> {
  const [link] = await db.select(shown).from(mailedLinks).where(isValid(hash, purposes))
  return link
}

/**
 * Uses up the link, and all others with which the same person could do the same. Undefined as above, also for the second
 * of two concurrent requests. Lock the account of the link before.
 */
export async function useMailedLink(
  tx: Transaction,
  hash: Buffer,
  purposes: MailedLinkPurpose[],
): Promise<MailedLink | undefined> {
  const found = await findMailedLink(tx, hash, purposes)
  if (!found) return undefined
  const isOfPerson =
    found.accountId === null ? eq(mailedLinks.email, found.email) : eq(mailedLinks.accountId, found.accountId)
  const same = and(isOfPerson, inArray(mailedLinks.purpose, purposes))
  // Two links of a person that are used at once would wait for each other.
  if (found.accountId === null) {
    await tx.execute(
      sql`SELECT pg_advisory_xact_lock(${advisoryLocks.linksToAddress}, hashtext(${found.email}))`,
    )
  }
  const [link] = await tx.delete(mailedLinks).where(isValid(hash, purposes)).returning(shown)
  if (link) await tx.delete(mailedLinks).where(same)
  return link
}

/** Of an account whose password or address has changed: older mails must not change it back. Lock the account before. */
export async function deleteMailedLinks(db: Pick<Database, 'delete'>, accountId: number): Promise<void> {
  await db.delete(mailedLinks).where(eq(mailedLinks.accountId, accountId))
}
