import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installDependencies } from './install.mjs'
import { repository, runToEnd } from './run.mjs'

// The bill of materials of what production installs, in CycloneDX 1.6: `npm run --silent sbom > sbom.cdx.json`.
await installDependencies()
const { packageManager } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
const format = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--sbom-type', 'application']
const apps = ['--filter', '@wagate/api...', '--filter', '@wagate/worker...']
const { code, output } = await runToEnd('npx', [
  '--yes',
  packageManager,
  'sbom',
  '--prod',
  ...format,
  ...apps,
])
const json = output.slice(output.indexOf('{'))
if (code === 0) console.log(json)
else console.error(output)
process.exitCode = code
