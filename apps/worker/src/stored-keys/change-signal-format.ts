import type { Database } from '@wagate/db/client'
import {
  listWorkersOfOtherFormat,
  type SignalFormat,
  setSignalFormat,
} from '@wagate/db/queries/credentials/signal-format'
import type { MasterKeys } from '../config/master-keys.ts'
import { convertSessionsToFormat1 } from './convert-sessions.ts'

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
