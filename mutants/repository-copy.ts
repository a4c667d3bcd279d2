import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('..', import.meta.url))

export type RepositoryCopy = {
  folder: string
  /** Puts the replacement in the place of the text, which must be in the file exactly once; returns how to undo it. */
  change(file: string, text: string, replacement: string): () => void
  remove(): void
}

/** A copy of the repository as it is now, changes that are not committed included, with the same dependencies. */
export function copyRepository(): RepositoryCopy {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-mutants-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  })
  const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(repository, file)))
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(repository, file), join(folder, file))
  }
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  // Links only. Those between packages are relative, so that they lead to the copy.
  for (const packageFile of files.filter((file) => file.endsWith('/package.json'))) {
    const modules = join(dirname(packageFile), 'node_modules')
    if (!existsSync(join(repository, modules))) continue
    cpSync(join(repository, modules), join(folder, modules), { recursive: true, verbatimSymlinks: true })
  }
  const data = join(repository, '.data')
  if (existsSync(data)) symlinkSync(data, join(folder, '.data'))

  return {
    folder,
    change(file, text, replacement) {
      const path = join(folder, file)
      const source = existsSync(path) ? readFileSync(path, 'utf8') : ''
      const found = source.split(text).length - 1
      if (found !== 1) throw new Error(`The text is ${found} times in ${file}, not once`)
      writeFileSync(
        path,
        source.replace(text, () => replacement),
      )
      return () => writeFileSync(path, source)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
