import type { Database } from '@wagate/db/client'
import { type AuthKey, type Replacement, replaceAuth } from '@wagate/db/queries/credentials/sealed-values'
import {
  listSessionsInParts,
  listWorkersOfOtherFormat,
  type SignalFormat,
  setSignalFormat,
} from '@wagate/db/queries/credentials/signal-format'
import type { MasterKeys } from '../config/master-keys.ts'
import { makeVault, openAuthValue, sealAuthValue } from '../session/credentials/vault.ts'

/** `isComplete`: whether an earlier version can be started, if the format is 1. */
export type FormatChange = { lines: string[]; isComplete: boolean }

/** Changes the format in which workers write Signal sessions once they are started again. */
export async function changeSignalFormat(
  db: Database,
  format: SignalFormat,
  masterKeys: MasterKeys,
  signal?: AbortSignal,
): Promise<FormatChange> {
  const older = await setSignalFormat(db, format)
  if (older.length > 0) {
    const names = older.join(', ')
    return { lines: [`Nothing was changed. Upgrade these workers first: ${names}`], isComplete: false }
  }
  const { converted, left } =
    format === 1 ? await convertSessionsToFormat1(db, masterKeys, signal) : { converted: 0, left: 0 }
  const others = await listWorkersOfOtherFormat(db, format)
  const lines = [
    `Workers that start from now on write Signal sessions in format ${format}.`,
    ...(format === 1 ? [`${converted} sessions converted.`] : []),
    ...others.map((name) => `The worker ${name} writes the other format: start it again.`),
  ]
  const isComplete = format === 2 || (left === 0 && others.length === 0)
  if (!isComplete) lines.push('Run this command again after that, before you start an earlier version.')
  return { lines, isComplete }
}

/** A page is scanned again if its owner was writing at the same time. */
const passesMax = 5

/**
 * Writes the sessions of format 2 in format 1, while workers read and write them, and returns their number. Throws for a
 * session that cannot be decrypted.
 */
async function convertSessionsToFormat1(
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
