import type { Database } from '@wagate/db/client'
import { type AuthKey, type Replacement, replaceAuth } from '@wagate/db/queries/credentials/sealed-values'
import { listSessionsInParts } from '@wagate/db/queries/credentials/signal-format'
import type { MasterKeys } from '../config/master-keys.ts'
import { openAuthValue, sealAuthValue } from '../session/credentials/auth-values.ts'
import { makeVault } from '../session/credentials/vault.ts'

/** A page is scanned again if its owner was writing at the same time. */
const passesMax = 5

/**
 * Writes the sessions of format 2 in format 1, while workers read and write them, and returns their number. Throws for a
 * session that cannot be decrypted.
 */
export async function convertSessionsToFormat1(
  db: Database,
  masterKeys: MasterKeys,
  signal?: AbortSignal,
): Promise<{ converted: number; left: number }> {
  let converted = 0
  let left = 0
  for (let pass = 0; pass === 0 || (left > 0 && pass < passesMax); pass++) {
    left = 0
    let after: AuthKey | undefined
    do {
      signal?.throwIfAborted()
      const page = await listSessionsInParts(db, after)
      const replacements = page.values.map((row) => inFormat1(masterKeys, row))
      const done = replacements.length > 0 ? await replaceAuth(db, replacements) : 0
      converted += done
      left += replacements.length - done
      after = page.last
    } while (after)
  }
  return { converted, left }
}

function inFormat1(
  masterKeys: MasterKeys,
  { key, value }: { key: AuthKey; value: Buffer },
): Replacement<AuthKey> {
  const vault = makeVault(masterKeys, key.deviceId)
  const opened = openAuthValue(vault, key.type, key.id, value)
  const { sealed } = sealAuthValue({ vault, format: 1 }, { ...key, value: opened.value })
  return { key, value, replacement: sealed }
}
