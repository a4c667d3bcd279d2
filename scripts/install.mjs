import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository, runToEnd } from './run.mjs'

const stamp = join(repository, 'node_modules/.wagate-installed')

/** Installs the dependencies when the lockfile, a manifest or the kind of machine changed since the last time. */
export async function installDependencies() {
  const wanted = fingerprint()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  const { packageManager } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  console.error(`Installing dependencies with ${packageManager}`)
  const args = ['--yes', packageManager, 'install', '--frozen-lockfile', '--reporter=append-only']
  const { code, output } = await runToEnd('npx', args)
  if (code !== 0) {
    console.error(output)
    console.error(
      'The dependencies could not be installed. If the lines above speak of the lockfile, run ' +
        `"npx ${packageManager} install" once; if they speak of the network, check the npm registry and proxy settings.`,
    )
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}

function fingerprint() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.versions.modules}`)
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()])
    hash.update(`\n${file}\n`).update(readFileSync(join(repository, file)))
  return hash.digest('hex')
}

function manifests() {
  const parts = ['packages', 'apps'].flatMap((folder) =>
    readdirSync(join(repository, folder)).map((name) => `${folder}/${name}`),
  )
  return ['.', ...parts, 'devnet', 'system-tests', 'faults', 'mutants', 'bench']
    .map((folder) => join(folder, 'package.json'))
    .filter((file) => existsSync(join(repository, file)))
}
