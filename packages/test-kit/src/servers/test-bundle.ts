import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { until } from '../until.ts'
import { bundleApps } from './bundle-apps.ts'

const bundles = new Map<string, Promise<unknown>>()
const bundleMs = { withinMs: 120_000, everyMs: 50 }

/** The folder with the programs as their source is now, which the first caller of a run bundles. */
export async function bundledApps(): Promise<string> {
  const { TEST_RUN_FOLDER } = process.env
  if (!TEST_RUN_FOLDER) throw new Error('There is no folder for it: run the tests with "npm test".')
  const folder = join(TEST_RUN_FOLDER, `bundle-${hashOfSource()}`)
  const bundling = bundles.get(folder) ?? bundleOnce(folder)
  bundles.set(folder, bundling)
  await bundling
  return folder
}

/** The files of a run that start first ask for it together, each in its process. */
function bundleOnce(folder: string): Promise<unknown> {
  const claim = `${folder}.claim`
  return until('the programs are bundled', bundleMs, async () => {
    if (existsSync(folder)) return true
    if (!make(claim)) return false
    try {
      await bundleApps(folder)
    } finally {
      rmSync(claim, { recursive: true })
    }
    return true
  })
}

/** Whether the folder was not there before. */
function make(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
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
