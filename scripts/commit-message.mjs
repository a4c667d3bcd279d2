import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { repository } from './run.mjs'

// `commit-message.mjs FILE` checks a message before it is committed (.githooks/commit-msg); `commit-message.mjs --since COMMIT`
// checks the subjects of all commits after it.

const subjectCharsMax = 72

/**
 * What is wrong with the subject of a commit. Empty when it follows docs/style.md.
 *
 * @param {string} subject
 */
export function problemsOf(subject) {
  const found = []
  if (subject.length > subjectCharsMax)
    found.push(`it has ${subject.length} characters, at most ${subjectCharsMax} are allowed`)
  if (!/^[a-z][a-z-]*: \S/.test(subject)) found.push('it does not begin with a scope, such as "api: "')
  if (subject.includes(';')) found.push('it names more than one change: a semicolon')
  if (subject.endsWith('.')) found.push('it ends with a full stop')
  return found
}

/** @param {string[]} subjects */
function report(subjects) {
  const wrong = subjects.flatMap((subject) =>
    problemsOf(subject).map((problem) => `"${subject}": ${problem}.`),
  )
  for (const line of wrong) console.error(line)
  process.exitCode = wrong.length > 0 ? 1 : 0
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [first = '', commit = ''] = process.argv.slice(2)
  const git = ['log', '--no-merges', '--format=%s', `${commit}..HEAD`]
  report(
    first === '--since'
      ? execFileSync('git', git, { cwd: repository, encoding: 'utf8' }).split('\n').filter(Boolean)
      : [readFileSync(first, 'utf8').split('\n')[0] ?? ''],
  )
}
