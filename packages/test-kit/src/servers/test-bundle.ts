import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundleApps } from './bundle-apps.ts'

let bundling: Promise<string> | undefined

/** The folder with the compiled programs of this run, which the first caller makes. */
export function bundledApps(): Promise<string> {
  bundling ??= bundleOnce()
  return bundling
}

async function bundleOnce(): Promise<string> {
  const { TEST_RUN_FOLDER } = process.env
  if (!TEST_RUN_FOLDER) throw new Error('TEST_RUN_FOLDER is not set: run the tests with "npm test".')
  const folder = join(TEST_RUN_FOLDER, 'bundle')
  if (!existsSync(folder)) await bundleApps(folder)
  return folder
}
