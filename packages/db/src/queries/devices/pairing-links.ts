import { and, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../client.ts'
import { accounts, apiKeys } from '../../schema/accounts.ts'
import { devices } from '../../schema/devices.ts'
import { type LinkPage, pairingLinks } from '../../schema/pairing-links.ts'
import type { KeyHolder } from '../accounts/api-keys.ts'

/** A one-time link, or the session for which it was exchanged. Both are limited to one device. */
export type LinkHolder = { id: number; credential: 'link' | 'session'; deviceId: number; sender: string }

export type NewPairingLink = {
  deviceId: number
  keyId: number
  hash: Buffer
  forMs: number
  page: LinkPage
}

export async function insertPairingLink(
  tx: Transaction,
  accountId: number,
  { deviceId, keyId, hash, forMs, page }: NewPairingLink,
): Promise<void> {
  await tx.insert(pairingLinks).values({
    accountId,
    deviceId,
    keyId,
    linkHash: hash,
    page,
    expiresAt: sql`now() + ${forMs}::float8 * interval '1 ms'`,
  })
}

/** Exchanges a link for a session, once. */
export async function openPairingLink(
  tx: Transaction,
  accountId: number,
  linkId: number,
  sessionHash: Buffer,
): Promise<
  { outcome: 'opened'; leftMs: number; page: LinkPage | null } | { outcome: 'used' } | { outcome: 'expired' }
> {
  const isLink = and(eq(pairingLinks.accountId, accountId), eq(pairingLinks.id, linkId))
  const [opened] = await tx
    .update(pairingLinks)
    .set({ sessionHash })
    .where(and(isLink, isNull(pairingLinks.sessionHash), gt(pairingLinks.expiresAt, sql`now()`)))
    .returning({
      leftMs: sql<number>`(extract(epoch FROM ${pairingLinks.expiresAt} - now()) * 1000)::float8`,
      page: pairingLinks.page,
    })
  if (opened) return { outcome: 'opened', ...opened }
  const [link] = await tx.select({ sessionHash: pairingLinks.sessionHash }).from(pairingLinks).where(isLink)
  return { outcome: link?.sessionHash ? 'used' : 'expired' }
}

/**
 * The map and `hashes` identify links and sessions by SHA-256 in base64. Not found: those whose device was deleted, and
 * those whose API key was revoked or has expired. An expired link is found, an expired session is found as such.
 */
export async function findLinkHolders(
  db: Database,
  hashes: string[],
): Promise<Map<string, KeyHolder & { link: LinkHolder }>> {
  const given = sql`(SELECT decode(given.hash, 'base64') FROM unnest(${sql.param(hashes)}::text[]) AS given (hash))`
  const rows = await db
    .select({
      linkHash: pairingLinks.linkHash,
      sessionHash: pairingLinks.sessionHash,
      expiresAt: pairingLinks.expiresAt,
      id: pairingLinks.id,
      deviceId: devices.id,
      sender: devices.sender,
      keyId: apiKeys.id,
      accountId: accounts.id,
      role: accounts.role,
      accountExpiresAt: accounts.expiresAt,
      accountDisabledAt: accounts.disabledAt,
    })
    .from(pairingLinks)
    .innerJoin(devices, and(eq(devices.id, pairingLinks.deviceId), isNull(devices.deletedAt)))
    .innerJoin(
      apiKeys,
      and(
        eq(apiKeys.id, pairingLinks.keyId),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
      ),
    )
    .innerJoin(accounts, eq(accounts.id, pairingLinks.accountId))
    .where(or(inArray(pairingLinks.linkHash, given), inArray(pairingLinks.sessionHash, given)))
  return new Map(
    rows.flatMap(({ linkHash, sessionHash, expiresAt, id, deviceId, sender, ...key }) => {
      const holder = (credential: LinkHolder['credential'], keyExpiresAt: Date | null) => ({
        ...key,
        keyExpiresAt,
        link: { id, credential, deviceId, sender },
      })
      return [
        [linkHash.toString('base64'), holder('link', null)] as const,
        ...(sessionHash ? [[sessionHash.toString('base64'), holder('session', expiresAt)] as const] : []),
      ]
    }),
  )
}
