// Compares the surface of another version of Baileys with `baileys-surface.json`, then runs the check of types and the suites
// that depend on Baileys, in a temporary copy.
// node scripts/check-baileys.mjs <version> [--continue] [test file or folder…]
// node scripts/check-baileys.mjs --write
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installDependencies } from './install.mjs'
import { repository } from './run.mjs'

await installDependencies()
const { compareSurfaces, readSurface, storedSurface, storeSurface } = await import('./baileys-surface.mjs')

const continuesFlag = '--continue'
const [version, ...options] = process.argv.slice(2)
if (version === '--write') {
  storeSurface(readSurface(repository))
  process.exit()
}
const given = options.filter((option) => option !== continuesFlag)
if (!version || version.startsWith('-')) {
  console.error('Name the version, for example: npm run check:baileys -- 7.0.0-rc13')
  process.exit(2)
}
const suites = given.length > 0 ? given : ['apps/worker', 'system-tests']
// The simulator keeps its own version, so the network is the same for every version.
const manifests = ['apps/worker/package.json', 'bench/package.json']

const copy = mkdtempSync(join(tmpdir(), 'check-baileys-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130))

copyFiles()
useOwnLibsignal()
for (const manifest of manifests) setVersion(join(copy, manifest))
const { packageManager } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'))
/** @param {string[]} args */
const pnpm = (...args) => run('npx', ['--yes', packageManager, ...args])
if (!pnpm('install', '--lockfile-only') || !pnpm('install', '--frozen-lockfile')) process.exit(1)

const differences = compareSurfaces(storedSurface().symbols, readSurface(copy).symbols)
for (const line of differences) console.log(line)
if (differences.length > 0 && !options.includes(continuesFlag)) {
  console.log(
    `Baileys ${version}: ${differences.length} symbols differ. ${continuesFlag} runs the tests all the same.`,
  )
  process.exit(1)
}

// The tests of the repository itself need its history, and know nothing of Baileys. The patch is for our version only.
const excluded = ['system-tests/repository/**', 'apps/worker/test/baileys-patch.test.ts']
const passed = {
  surface: differences.length === 0,
  types: run('node_modules/.bin/tsc', ['-p', 'tsconfig.json']),
  tests: run('npm', [
    'test',
    '--',
    ...suites,
    ...excluded.map((pattern) => `--exclude=${pattern}`),
    '--maxWorkers=1',
  ]),
}
for (const [name, isPassed] of Object.entries(passed)) {
  console.log(`Baileys ${version}: ${name} ${isPassed ? 'passed' : 'failed'}`)
}
process.exitCode = Object.values(passed).includes(false) ? 1 : 0

/** Everything that git tracks or would add, as it is now. */
function copyFiles() {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
    encoding: 'utf8',
  })
  for (const file of list.split('\0').filter(Boolean)) {
    if (existsSync(join(repository, file))) cpSync(join(repository, file), join(copy, file))
  }
}

/** The worker corrects libsignal as it is loaded, and older versions of Baileys take theirs from GitHub. */
function useOwnLibsignal() {
  const { dependencies } = JSON.parse(readFileSync(join(copy, 'packages/simulator/package.json'), 'utf8'))
  const overrides = { libsignal: dependencies.libsignal, '@whiskeysockets/eslint-config': '1.0.0' }
  appendFileSync(join(copy, 'pnpm-workspace.yaml'), `overrides: ${JSON.stringify(overrides)}\n`)
}

/** @param {string} file */
function setVersion(file) {
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  for (const kind of ['dependencies', 'devDependencies']) {
    if (manifest[kind]?.baileys) manifest[kind].baileys = version
  }
  writeFileSync(file, JSON.stringify(manifest, null, 2))
}

/**
 * Returns whether the command succeeded.
 *
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  console.log(`\n$ ${command} ${args.join(' ')}`)
  return spawnSync(command, args, { cwd: copy, stdio: 'inherit' }).status === 0
}
