import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const repository = fileURLToPath(new URL('../..', import.meta.url))

const refused = [
  ['packages/shared', '@wagate/db/client'],
  ['packages/shared', 'ioredis'],
  ['packages/shared', '@wagate/runtime/logger'],
  ['packages/shared', 'node:http'],
  ['packages/runtime', '@wagate/shared/phone'],
  ['packages/runtime', 'ioredis'],
  ['packages/local-servers', '@wagate/db/client'],
  ['packages/db', '@wagate/queue/redis'],
  ['packages/db', 'bullmq'],
  ['packages/queue', '@wagate/db/client'],
  ['packages/queue', 'postgres'],
  ['packages/media-store', '@wagate/db/client'],
  ['packages/simulator', '@wagate/shared/phone'],
  ['apps/api', '@wagate/worker/start'],
  ['apps/api', 'bullmq'],
  ['apps/api', 'drizzle-orm'],
  ['apps/api', 'baileys'],
  ['apps/api', '../../worker/src/start.ts'],
  ['apps/worker', '@wagate/api/start'],
  ['apps/worker', 'postgres'],
  ['apps/worker', 'hono'],
  ['apps/worker', '../../../packages/db/src/client.ts'],
  ['apps/worker', '@wagate/test-kit/until'],
  ['apps/worker', 'baileys'],
  ['apps/worker/src/session', 'postgres'],
] as const

const allowed = [
  ['packages/shared', 'zod'],
  ['packages/shared', 'node:crypto'],
  ['packages/runtime', 'node:http'],
  ['packages/db', '@wagate/runtime/logger'],
  ['packages/db', '@wagate/shared/phone'],
  ['packages/media-store', 'aws4fetch'],
  ['apps/api', '@wagate/db/client'],
  ['apps/api', '@wagate/media-store/media-store'],
  ['apps/worker', './start.ts'],
  ['apps/worker/src/session', 'baileys'],
  ['apps/worker/src/preload', 'baileys'],
] as const

/** A tree with our rules, with one file for each of these imports. */
const tree = mkdtempSync(join(tmpdir(), 'wagate-layers-'))
const pathOf = (layer: string, imported: string) =>
  `${layer.includes('/src') ? layer : `${layer}/src`}/planted-${imported.replaceAll(/\W+/g, '-')}.ts`
let violations: Set<string>

beforeAll(() => {
  for (const name of ['biome.json', '.gitignore']) copyFileSync(join(repository, name), join(tree, name))
  for (const [layer, imported] of [...refused, ...allowed]) {
    const path = join(tree, pathOf(layer, imported))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `import '${imported}'\n`)
  }
  violations = new Set(lint())
}, 30_000)

afterAll(() => rmSync(tree, { recursive: true, force: true }))

function lint(): string[] {
  const args = ['lint', '--reporter=github', '--max-diagnostics=none', '--only=style/noRestrictedImports']
  try {
    execFileSync(join(repository, 'node_modules/.bin/biome'), args, { cwd: tree, stdio: 'pipe' })
    return []
  } catch (error) {
    const printed = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    return [...printed.matchAll(/noRestrictedImports,file=([^,]+)/g)].map(([, file = '/']) =>
      relative(tree, file),
    )
  }
}

describe('the check of the layers', () => {
  it.each(refused)('refuses that %s imports %s', (layer, imported) => {
    expect(violations).toContain(pathOf(layer, imported))
  })

  it.each(allowed)('lets %s import %s', (layer, imported) => {
    expect(violations).not.toContain(pathOf(layer, imported))
  })
})
