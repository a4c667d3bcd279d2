// node .ci/total.mjs FOLDER FAILED_CHECKS: prints the last lines of a run, and fails if anything failed.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from './outcome.mjs'

const [folder = '', failedChecks] = process.argv.slice(2)
const files = readdirSync(folder).filter((name) => name.endsWith('.outcome.json'))
const outcomes = files.sort().map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
const { lines, failed } = describe(outcomes, Number(failedChecks))
for (const line of lines) console.log(line)
process.exitCode = failed > 0 ? 1 : 0
