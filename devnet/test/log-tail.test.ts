import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import { expect, test } from 'vitest'
import { followLog } from '../src/log-tail.ts'

test('a log that was deleted with its temporary folder has no more lines', () => {
  const folder = temporaryFolder()
  const logFile = join(folder, 'api.log')
  writeFileSync(logFile, 'first\nsecond\n')
  const lines: string[] = []
  const stop = followLog({ logFile, logOffset: 0 }, (line) => lines.push(line))
  stop()
  rmSync(folder, { recursive: true })
  stop()
  expect(lines).toEqual(['first', 'second'])
})
