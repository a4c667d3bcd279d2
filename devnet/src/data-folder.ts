import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OnClose } from './on-close.ts'

/** Everything of one installation on this machine: databases, keys, the simulated network's memory, logs. */
export function openDataFolder(folder: string): void {
  if (existsSync(folder)) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Root's Postgres runs under another account, which must be able to pass.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711)
}

/** A folder that is gone at the end. */
export function openTemporaryFolder(onClose: OnClose): string {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-devnet-'))
  chmodSync(folder, 0o711)
  onClose(async () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Encrypts the WhatsApp credentials at rest; made at the first start. */
export function readMasterKey(folder: string): string {
  const file = join(folder, 'master-key')
  if (!existsSync(file)) writeSecret(file, randomBytes(32).toString('base64'))
  return readFileSync(file, 'utf8').trim()
}

export function adminKeyFile(folder: string): string {
  return join(folder, 'admin-key')
}

export function readAdminKey(folder: string): string | undefined {
  const file = adminKeyFile(folder)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

export function writeAdminKey(folder: string, apiKey: string): void {
  writeSecret(adminKeyFile(folder), apiKey)
}

/** For other programs: `node --env-file=.data/environment scripts/wagate.mjs …`. */
export function writeEnvironment(folder: string, variables: Record<string, string>): void {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  writeSecret(environmentFile(folder), lines.join('\n'))
}

export function environmentFile(folder: string): string {
  return join(folder, 'environment')
}

/** Complete or not there at all, and never readable by others in between. */
function writeSecret(file: string, secret: string): void {
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, `${secret}\n`, { mode: 0o600 })
  renameSync(unfinished, file)
}
