import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What each process of a system has logged, under the name of the process. */
export function readLogs(dataFolder: string): Map<string, string> {
  const folder = join(dataFolder, 'logs')
  const files = readdirSync(folder)
  return new Map(files.map((name) => [name.replace(/\.log$/, ''), readFileSync(join(folder, name), 'utf8')]))
}
