import { installDependencies } from './install.mjs'
import { checkNodeVersion } from './node-version.mjs'
import { become } from './run.mjs'

checkNodeVersion()
await installDependencies()
become([
  '--import',
  './scripts/typescript.mjs',
  '--conditions=source',
  'mutants/main.ts',
  ...process.argv.slice(2),
])
