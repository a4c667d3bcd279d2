import { installDependencies } from './install.mjs'
import { checkNodeVersion } from './node-version.mjs'
import { become } from './run.mjs'
import { help, readStartArguments } from './start-arguments.mjs'

checkNodeVersion()
const args = process.argv.slice(2)
try {
  refuseSwallowedOptions()
  if (readStartArguments(args).help) {
    console.log(help)
    process.exit()
  }
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${help}`)
  process.exit(2)
}
await installDependencies()
become(['--import', './scripts/typescript.mjs', '--conditions=source', 'devnet/src/main.ts', ...args])

/** Without the lone "--" npm swallows the options: a user would expect the live network and get the simulated one. */
function refuseSwallowedOptions() {
  const swallowed = ['live', 'workers', 'simulator-port'].find(
    (name) => process.env[`npm_config_${name.replace('-', '_')}`] !== undefined,
  )
  if (swallowed) throw new Error(`npm kept --${swallowed} to itself: put "--" before it, as below.`)
}
