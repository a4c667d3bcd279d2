import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import { expect, test } from 'vitest'
import { fileOf, pageTypes } from '../src/pages/page-file.ts'

test('a file that could not be read is read again', async () => {
  const path = join(temporaryFolder(), 'page.css')
  const { read } = fileOf(pageTypes.css, path)
  await expect(read()).rejects.toThrow('ENOENT')
  await writeFile(path, 'body {}')
  expect(Buffer.from(await read()).toString()).toBe('body {}')
})
