import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { restrictionReasonGuide, statusReasonGuide } from '../src/errors/device-reasons.ts'
import { requestErrorGuide } from '../src/errors/error-catalogue.ts'
import { messageErrorGuide } from '../src/errors/message-error-guide.ts'

const repository = new URL('../../../', import.meta.url)

function readTests(folders: string[]): string {
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, repository)).map((name) => `${folder}/${name}`),
  )
  return files
    .filter((file) => file.endsWith('.test.ts') && !file.endsWith('/error-catalogue.test.ts'))
    .map((file) => readFileSync(new URL(file, repository), 'utf8'))
    .join('\n')
}

test.each([
  ['code of a request', requestErrorGuide, ['apps/api/test']],
  ['code of a message', messageErrorGuide, ['system-tests', 'apps/worker/test', 'packages/db/test']],
  ['status reason', statusReasonGuide, ['system-tests', 'apps/worker/test']],
  ['restriction reason', restrictionReasonGuide, ['system-tests']],
])('every documented %s is expected by a test, so it can occur', (_, guide, folders) => {
  const tests = readTests(folders)
  expect(Object.keys(guide).filter((code) => !tests.includes(`'${code}'`))).toEqual([])
})
