import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Mutant } from './mutant.ts'
import { repository } from './repository-copy.ts'
import type { Change } from './selection.ts'

/**
 * What differs between `since` and the working tree, with changes that are not committed. Without `since`: between the
 * commit at which this branch has left origin/main and the working tree, or HEAD~1 when it has not left it.
 */
export async function findChange(since: string | undefined): Promise<Change & { base: string }> {
  const base = since === undefined ? findBase() : findCommit(since)
  if (!base) throw new Error(`There is no commit ${since ?? 'before this one'}: name one with --since`)
  const changed = git('diff', '--name-only', '--no-renames', '-z', base, '--')
  const untracked = git('ls-files', '--others', '--exclude-standard', '-z')
  const files = new Set([...changed.split('\0'), ...untracked.split('\0')].filter((file) => file !== ''))
  return { base, files, formerMutants: await loadMutants(base) }
}

function findBase(): string | undefined {
  const main = findCommit('origin/main')
  const branchedAt = main && git('merge-base', 'HEAD', main).trim()
  return branchedAt && branchedAt !== findCommit('HEAD') ? branchedAt : findCommit('HEAD~1')
}

function findCommit(name: string): string | undefined {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`).trim()
  } catch {
    return undefined
  }
}

/** The entries as they were in a commit. They import nothing from outside of their folder. */
async function loadMutants(commit: string): Promise<Mutant[]> {
  const files = git('ls-tree', '--name-only', commit, 'mutants/')
    .split('\n')
    .filter((file) => file.endsWith('mutants.ts'))
  if (files.length === 0) return []
  const folder = mkdtempSync(join(tmpdir(), 'wagate-former-mutants-'))
  try {
    mkdirSync(join(folder, 'mutants'))
    for (const file of files) writeFileSync(join(folder, file), git('show', `${commit}:${file}`))
    const { mutants } = await import(pathToFileURL(join(folder, 'mutants/mutants.ts')).href)
    return mutants
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 })
}
