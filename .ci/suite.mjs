// node .ci/suite.mjs FOLDER NAME COMMAND...: runs one suite of tests, and each file of it that failed a second time, alone.
// Writes what came of it to the folder, for total.mjs.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { failedFiles, flakyFilesMax, judge } from './outcome.mjs'

const [folder = '', name = '', program = '', ...given] = process.argv.slice(2)
const number = Number(process.env.SUITE_NUMBER)

/**
 * @param {string[]} args
 * @param {string} label
 * @returns {import('./outcome.mjs').Run}
 */
function run(args, label) {
  const file = join(folder, `${number}-${label}.report.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const { status } = spawnSync(program, [...args, ...reporters], { stdio: ['ignore', 'inherit', 'inherit'] })
  try {
    return { exitCode: status ?? 1, report: JSON.parse(readFileSync(file, 'utf8')) }
  } catch {
    return { exitCode: status ?? 1, report: undefined }
  }
}

console.log(`== ${name}`)
const first = run(given, 'first')
const failed = failedFiles(first)
/** @type {Map<string, import('./outcome.mjs').Run>} */
const repeated = new Map()
if (failed.length <= flakyFilesMax) {
  for (const [index, file] of failed.entries()) {
    console.log(`== ${name}: ${relative('.', file)} failed, and is repeated alone`)
    const args = given.filter((option) => !option.startsWith('--shard'))
    repeated.set(file, run([...args, relative('.', file)], `repeat-${index}`))
  }
}
writeFileSync(join(folder, `${number}.outcome.json`), JSON.stringify({ name, ...judge(first, repeated) }))
