import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { formatTable } from '../table.ts'
import type { Trace, TracedFile } from './trace-way.ts'
import type { CalledFunction } from './traced-process.ts'

/** One line for each file, in the order of the trace, then the totals. */
export function formatTrace({ title, files, answeredMs, unseen }: Trace): string {
  const rows = files.map(({ process, file, functions }, at) => ({
    '': at + 1,
    process,
    file,
    lines: linesOf(file, functions).size,
    functions: namesOf(file, functions).join(', '),
  }))
  const answered = files.findIndex(({ ms }) => ms > answeredMs)
  const lines = formatTable({
    title: `${title}. Files in the order in which they are first entered:`,
    rows,
  }).split('\n')
  lines[2] = ''
  if (answered !== -1) lines.splice(answered + 3, 0, '    The caller has its answer.')
  const notes = unseen.map(({ file, name }) => `Ran at another time: ${name || 'a function'} in ${file}.`)
  return [...lines, ...notes, '', formatTable({ title: 'Totals', rows: totalsOf(files) })].join('\n')
}

export type Totals = {
  process: string
  files: number
  functions: number
  lines: number
  'lines of the files': number
}

/** `lines` are those of the functions. A file that both processes enter counts once for both together. */
export function totalsOf(files: TracedFile[]): Totals[] {
  const processes = [...new Set(files.map(({ process }) => process))]
  return [
    ...processes.map((name) =>
      total(
        name,
        files.filter(({ process }) => process === name),
      ),
    ),
    total('together', files),
  ]
}

function total(process: string, files: TracedFile[]): Totals {
  const byFile = new Map<string, Map<number, CalledFunction>>()
  for (const { file, functions } of files) {
    const found = byFile.get(file) ?? new Map<number, CalledFunction>()
    for (const called of functions) found.set(called.start, called)
    byFile.set(file, found)
  }
  const sum = (count: (file: string, functions: CalledFunction[]) => number) =>
    [...byFile].reduce((total, [file, functions]) => total + count(file, [...functions.values()]), 0)
  return {
    process,
    files: byFile.size,
    functions: sum((_, functions) => functions.length),
    lines: sum((file, functions) => linesOf(file, functions).size),
    'lines of the files': sum((file) => textOf(file).split('\n').length - 1),
  }
}

/** Functions inside of others count with them. */
function linesOf(file: string, functions: CalledFunction[]): Set<number> {
  return new Set(
    functions.flatMap(({ start, end }) => {
      const first = lineAt(file, start)
      return Array.from({ length: lineAt(file, end) - first + 1 }, (_, index) => first + index)
    }),
  )
}

/** Those without a name by their line, and the columns of a table, such as `rows.id`, under the name of the table. */
function namesOf(file: string, functions: CalledFunction[]): string[] {
  const names = functions.map(({ name, start }) => {
    return name.replace(/\.[^.]*$/, '.*').replace(/^(get|set) /, '') || `line ${lineAt(file, start)}`
  })
  return [...new Set(names)]
}

function lineAt(file: string, offset: number): number {
  return textOf(file).slice(0, offset).split('\n').length
}

function textOf(file: string): string {
  return readFileSync(join(repository, file), 'utf8')
}
