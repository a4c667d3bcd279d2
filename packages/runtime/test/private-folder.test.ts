import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { makePrivateFolder } from '../src/private-folder.ts'

const prefix = 'wagate-worker-'
const parent = mkdtempSync(join(tmpdir(), 'wagate-test-'))
afterAll(() => rmSync(parent, { recursive: true }))

function makeFolder(name: string): string {
  const folder = join(parent, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'media'), 'private')
  return folder
}

describe('the folder for temporary files', () => {
  test('can be entered only by this user', () => {
    expect(statSync(makePrivateFolder(prefix, parent)).mode & 0o777).toBe(0o700)
  })

  test('replaces only those of processes that have ended', () => {
    const { pid: ended } = spawnSync('true')
    const leftovers = [
      makeFolder(`wagate-worker-${ended}-abc`),
      makeFolder(`wagate-worker-${process.pid}-abc`),
    ]
    const kept = [
      makeFolder(`wagate-worker-${process.ppid}-abc`),
      makeFolder('wagate-workers'),
      makeFolder('wagate-worker-abc'),
      makeFolder('x'),
    ]
    makePrivateFolder(prefix, parent)
    expect(leftovers.map((folder) => existsSync(folder))).toEqual([false, false])
    expect(kept.map((folder) => existsSync(folder))).toEqual([true, true, true, true])
  })
})
