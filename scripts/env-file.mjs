import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../.env', import.meta.url))

/**
 * Takes the variables that .env names and that the environment does not have. Returns their names.
 *
 * @returns {string[]}
 */
export function loadEnvFile() {
  if (!existsSync(file)) return []
  const before = new Set(Object.keys(process.env))
  process.loadEnvFile(file)
  return Object.entries(process.env).flatMap(([name, value]) =>
    before.has(name) || value === '' ? [] : [name],
  )
}
