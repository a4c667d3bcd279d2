import { createHash } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { bundleApps } from './bundle-apps.ts'

const bundles = new Map<string, Promise<void>>()

/** The folder with the programs as their source is now, which the first caller of a run bundles. */
export async function bundledApps(): Promise<string> {
  const { TEST_RUN_FOLDER } = process.env
  if (!TEST_RUN_FOLDER) throw new Error('There is no folder for it: run the tests with "npm test".')
  const folder = join(TEST_RUN_FOLDER, `bundle-${hashOfSource()}`)
  const bundling = bundles.get(folder) ?? (existsSync(folder) ? Promise.resolve() : bundleApps(folder))
  bundles.set(folder, bundling)
  await bundling
  return folder
}

/** Mutants change the source within a run. */
function hashOfSource(): string {
  const hash = createHash('sha256')
  for (const folder of ['apps', 'packages'])
    for (const part of readdirSync(join(repository, folder))) {
      const source = join(repository, folder, part, 'src')
      if (!existsSync(source)) continue
      for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
        const { size, mtimeMs } = statSync(join(source, file))
        hash.update(`${part}/${file} ${size} ${mtimeMs}\n`)
      }
    }
  return hash.digest('hex').slice(0, 16)
}
