import { installDependencies } from './install.mjs'
import { checkNodeVersion } from './node-version.mjs'
import { become } from './run.mjs'

checkNodeVersion()
await installDependencies()
become([
  '--import',
  './devnet/src/typescript.mjs',
  '--conditions=source',
  'devnet/mutants/main.ts',
  ...process.argv.slice(2),
])
