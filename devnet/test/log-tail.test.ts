import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { followLog } from '../src/log-tail.ts'

test('a log that is gone, as when the servers of a temporary folder could not start, has no more lines', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-log-'))
  const logFile = join(folder, 'api.log')
  writeFileSync(logFile, 'first\nsecond\n')
  const lines: string[] = []
  const stop = followLog({ logFile, logOffset: 0 }, (line) => lines.push(line))
  stop()
  rmSync(folder, { recursive: true })
  stop()
  expect(lines).toEqual(['first', 'second'])
})
