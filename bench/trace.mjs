import { checkNodeVersion } from '../scripts/node-version.mjs'
import { become } from '../scripts/run.mjs'

checkNodeVersion()
become([
  '--import',
  './scripts/typescript.mjs',
  '--conditions=source',
  'bench/src/trace/main.ts',
  ...process.argv.slice(2),
])
