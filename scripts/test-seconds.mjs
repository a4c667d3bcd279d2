import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { repository } from './run.mjs'

// node scripts/test-seconds.mjs REPORT: takes the seconds of each file from the JSON report of a whole run
// (npm test -- --reporter=json --outputFile.json=REPORT), so that the next runs start the longest files first.

const table = join(repository, 'packages/test-kit/src/run/seconds.json')
const report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
/** @type {{ name: string, startTime: number, endTime: number }[]} */
const files = report.testResults
const seconds = files
  .map(({ name, startTime, endTime }) => ({
    file: relative(repository, name),
    took: Math.round((endTime - startTime) / 1000),
  }))
  .filter(({ took }) => took >= 1)
  .sort((one, other) => other.took - one.took || one.file.localeCompare(other.file))
writeFileSync(
  table,
  `${JSON.stringify(Object.fromEntries(seconds.map(({ file, took }) => [file, took])), null, 2)}\n`,
)
const total = seconds.reduce((sum, { took }) => sum + took, 0)
console.log(`${seconds.length} files of a second and more take ${total} s`)
