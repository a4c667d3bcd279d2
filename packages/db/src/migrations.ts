import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const migrationsFolder = fileURLToPath(new URL('../migrations', import.meta.url))

/** The time of this version's newest migration in the journal. Drizzle stores it when it applies the migration. */
export function newestMigration(): number {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(join(migrationsFolder, 'meta/_journal.json'), 'utf8'),
  )
  return Math.max(...journal.entries.map(({ when }) => when))
}
