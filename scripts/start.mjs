import { installDependencies } from './install.mjs'
import { checkNodeVersion } from './node-version.mjs'
import { become } from './run.mjs'
import { help, readStartArguments } from './start-arguments.mjs'

checkNodeVersion()
const args = process.argv.slice(2)
try {
  if (readStartArguments(args).help) {
    console.log(help)
    process.exit()
  }
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${help}`)
  process.exit(2)
}
await installDependencies()
become(['--import', './devnet/src/typescript.mjs', '--conditions=source', 'devnet/src/main.ts', ...args])
