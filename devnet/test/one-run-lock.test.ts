import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import { expect, test } from 'vitest'
import { takeOneRunLock } from '../src/one-run-lock.ts'

test('refuses a second run on the same folder, and names the first', async () => {
  const folder = temporaryFolder()
  const first = await takeOneRunLock(folder)
  await expect(takeOneRunLock(folder)).rejects.toThrow(`process ${process.pid}`)
  await first.release()
  const second = await takeOneRunLock(folder)
  await second.release()
  expect(existsSync(join(folder, 'lock'))).toBe(false)
})

test('takes over from a run that crashed, although its process number lives on', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: process.ppid, port: 1, token: 'gone' }))
  const lock = await takeOneRunLock(folder)
  await lock.release()
})

test('lets only one of several that start at once have it', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'lock'), 'not complete')
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => takeOneRunLock(folder)))
  const taken = results.filter((result) => result.status === 'fulfilled')
  expect(taken).toHaveLength(1)
  await Promise.all(taken.map(({ value }) => value.release()))
})
