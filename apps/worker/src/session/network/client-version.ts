import type { Database } from '@wagate/db/client'
import {
  claimVersionRead,
  hastenVersionRead,
  noteUsedVersion,
  recordReadVersion,
} from '@wagate/db/queries/credentials/client-versions'
import type { Logger } from '@wagate/runtime/logger'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { DEFAULT_CONNECTION_CONFIG, type WAVersion } from 'baileys'
import type { ReadServedVersion } from './served-version.ts'

/** The version of WhatsApp Web that senders log in as. */
export type ClientVersion = Running & {
  /** Such as `2.3000.1043857760`. An open connection keeps the one with which it was opened. */
  current(): string
  /** Since it was known to be WhatsApp's present one. If the operator chose it: since it was first used. */
  ageDays(): number
  /** WhatsApp has refused it. A newer one is read soon, if there is one. */
  doubt(): void
}

export const bundledVersion = DEFAULT_CONNECTION_CONFIG.version.join('.')
/** When WhatsApp published it. A test fails when Baileys brings another one. */
export const bundledPublished = { version: '2.3000.1043857760', day: '2026-08-07' }

const dayMs = 86_400_000
const readPauseMs = 6 * 3_600_000
const doubtPauseMs = 60_000
const oldDays = 30
/** Revisions grow by about 15 million a year. What is further ahead is no revision, and could never be lowered again. */
const revisionsAheadMax = 100_000_000

type Options = {
  db: Database
  logger: Logger
  readServed: ReadServedVersion
  /** How soon a worker knows what another one has read. */
  pollMs?: number
}

type Version = { text: string; presentAtMs: number }

/** `setting` is `auto`, `bundled` or a version. With `auto`, one worker at a time reads it and all use it. */
export async function startClientVersion(
  setting: string,
  { db, logger, readServed, pollMs = 10_000 }: Options,
): Promise<ClientVersion> {
  const ending = new AbortController()
  const isFollowing = setting === 'auto'
  let version: Version =
    isFollowing || setting === 'bundled'
      ? { text: bundledVersion, presentAtMs: Date.parse(bundledPublished.day) }
      : { text: setting, presentAtMs: Date.now() - (await noteUsedVersion(db, setting)) }
  const ageDays = () => Math.max(0, Date.now() - version.presentAtMs) / dayMs
  let warnedAtMs = Number.NEGATIVE_INFINITY
  let doubtedAtMs = Number.NEGATIVE_INFINITY

  function adopt(text: string, ageMs: number): void {
    const order = compareVersions(text, version.text)
    // WhatsApp may serve an earlier version for a while. A client that goes back would be noticed.
    if (order < 0) return
    const presentAtMs = Date.now() - ageMs
    if (order > 0) {
      logger.info({ clientVersion: text }, 'WhatsApp Web has a new version, used from the next login on')
    }
    version = { text, presentAtMs: order > 0 ? presentAtMs : Math.max(presentAtMs, version.presentAtMs) }
  }

  async function read(): Promise<void> {
    try {
      const served = await readServed(ending.signal)
      if (revisionOf(served) - revisionOf(bundledVersion) > revisionsAheadMax) {
        throw new Error(`The page of WhatsApp Web names the version ${served}, which cannot be right`)
      }
      const newest = compareVersions(served, version.text) > 0 ? served : version.text
      await recordReadVersion(db, newest, readPauseMs)
      adopt(newest, 0)
    } catch (error) {
      if (ending.signal.aborted) return
      const fields = { err: error, clientVersion: version.text, ageDays: Math.floor(ageDays()) }
      logger.warn(fields, 'Could not read the version of WhatsApp Web, will try again in 15 minutes')
    }
  }

  /** Returns false while another worker is reading the first version of all. */
  async function follow(): Promise<boolean> {
    const { newest, isClaimed } = await claimVersionRead(db)
    if (newest) adopt(newest.version, newest.ageMs)
    if (isClaimed) await read()
    return isClaimed || newest !== undefined
  }

  function warnIfOld(): void {
    if (ageDays() < oldDays || performance.now() - warnedAtMs < dayMs) return
    warnedAtMs = performance.now()
    logger.warn(
      { clientVersion: version.text, ageDays: Math.floor(ageDays()) },
      'The version of WhatsApp Web is old: phones may refuse to link, and WhatsApp to log senders in. See WHATSAPP_VERSION',
    )
  }

  async function pollOnce(): Promise<void> {
    if (ending.signal.aborted) return
    if (!isFollowing || (await follow())) warnIfOld()
  }

  const onError = (error: unknown) => logger.warn({ err: error }, 'Looking up the client version failed')
  await pollOnce().catch(onError)
  let polling: Promise<void> = Promise.resolve()
  const poll = makeSingleFlight(() => {
    polling = pollOnce()
    return polling
  }, onError)
  const timer = setInterval(poll, pollMs).unref()
  return {
    current: () => version.text,
    ageDays,
    doubt() {
      if (!isFollowing || performance.now() - doubtedAtMs < doubtPauseMs) return
      doubtedAtMs = performance.now()
      hastenVersionRead(db).then(poll, onError)
    },
    async close() {
      clearInterval(timer)
      ending.abort()
      await polling.catch(() => undefined)
    },
  }
}

/** As Baileys takes it. */
export function toSocketVersion(version: string): WAVersion {
  const [major = 0, minor = 0, revision = 0] = version.split('.').map(Number)
  return [major, minor, revision]
}

function revisionOf(version: string): number {
  return toSocketVersion(version)[2]
}

/** Above 0 when `one` is newer. */
function compareVersions(one: string, other: string): number {
  const others = toSocketVersion(other)
  const differences = toSocketVersion(one).map((part, index) => part - (others[index] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}
