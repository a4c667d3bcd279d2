// Packs the simulator, installs it in the example beside versions of Baileys, and runs the tests of the example.
// node scripts/check-simulator-package.mjs [version or npm spec of a fork…]
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installDependencies } from './install.mjs'
import { repository, runToEnd } from './run.mjs'

// The oldest that the simulator knows, the two last ones of 6, the one that uploads with fetch, the gateway's, and a fork
// that never requests to be active.
const known = ['6.7.0', '6.7.24', '6.17.16', '7.0.0-rc.9', '7.0.0-rc14', '@neoxr/baileys@8.2.18']
const waiting = process.argv.length > 2 ? process.argv.slice(2) : known
/** More would only make the tests of each slower. */
const clientsAtOnce = 3

// Older versions take these from GitHub, which a machine that runs tests need not reach.
const overrides = { libsignal: '6.0.0', '@whiskeysockets/eslint-config': '1.0.0' }

await installDependencies()
const folder = await mkdtemp(join(tmpdir(), 'simulator-package-'))
try {
  await pack()
  await Promise.all(Array.from({ length: clientsAtOnce }, testWaiting))
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function testWaiting() {
  for (let client = waiting.shift(); client; client = waiting.shift()) {
    await testWith(client).catch((error) => {
      console.error(error.message)
      process.exitCode = 1
    })
  }
}

async function pack() {
  const { packageManager } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))
  await run('node_modules/.bin/tsc', ['-b', 'packages/simulator'])
  const tarball = join(folder, 'wagate-simulator.tgz')
  await run('npx', ['--yes', packageManager, '--dir', 'packages/simulator', 'pack', '--out', tarball])
}

/** @param {string} client */
async function testWith(client) {
  const specification = /^\d/.test(client) ? `@whiskeysockets/baileys@${client}` : client
  const example = join(folder, specification.replaceAll('/', ' '))
  await cp(join(repository, 'examples/test-with-simulator'), example, {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  })
  await cp(join(folder, 'wagate-simulator.tgz'), join(example, 'wagate-simulator.tgz'))
  const manifest = JSON.parse(await readFile(join(example, 'package.json'), 'utf8'))
  manifest.dependencies.baileys = `npm:${specification}`
  manifest.overrides = overrides
  await writeFile(join(example, 'package.json'), JSON.stringify(manifest))
  await run('npm', [
    'install',
    '--prefix',
    example,
    '--ignore-scripts',
    '--omit=optional',
    '--omit=peer',
    '--no-audit',
    '--no-fund',
  ])
  const report = await run('npm', ['test', '--prefix', example, '--', '--test-reporter=tap'])
  const [, passed] = /^# pass (\d+)$/m.exec(report) ?? []
  if (!Number(passed)) throw new Error(`No test was executed with ${specification}.`)
  console.log(`${specification}: ${passed} tests of the example passed`)
}

/** Returns what the command printed, and ends this process when it fails.
 * @param {string} command
 * @param {string[]} args */
async function run(command, args) {
  const { code, output } = await runToEnd(command, args)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${output}`)
  return output
}
