import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Gone when the test is over. Other accounts may pass through it, as root's Postgres must. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wagate devnet test '))
  chmodSync(folder, 0o711)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
