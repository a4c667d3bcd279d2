import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { expect, test } from 'vitest'
import { bundledApps } from '../src/servers/test-bundle.ts'

test('what the preload of the worker changes is in no bundle, where it would be another copy', async () => {
  const preloads = join(repository, 'apps/worker/src/preload')
  const changed = readdirSync(preloads).flatMap((file) =>
    [...readFileSync(join(preloads, file), 'utf8').matchAll(/requireOfBaileys\('(.+)'\)/g)].map(
      ([, module]) => module,
    ),
  )
  expect(new Set(changed)).toEqual(new Set(['libsignal/src/curve.js', 'libsignal/src/session_cipher.js']))
  const programs = join(await bundledApps(), 'apps/worker/dist')
  const chunks = readdirSync(programs).filter((file) => file.endsWith('.js'))
  const text = chunks.map((file) => readFileSync(join(programs, file), 'utf8')).join('')
  const isBundled = (module: string) => text.includes(`node_modules/${module}"(`)
  expect(isBundled('bullmq/dist/cjs/index.js')).toBe(true)
  expect(changed.filter((module) => module && isBundled(module))).toEqual([])
})
