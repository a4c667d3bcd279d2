import { installDependencies } from './install.mjs'
import { checkNodeVersion } from './node-version.mjs'
import { become } from './run.mjs'

checkNodeVersion()
await installDependencies()
become(['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)])
