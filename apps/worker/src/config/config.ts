import { readEnvironment } from './environment.ts'
import { toConfig } from './to-config.ts'

export type Config = ReturnType<typeof toConfig>

/** Throws one error that names every invalid variable. */
export function readConfig(env: Record<string, string | undefined>): Config {
  return toConfig(readEnvironment(env))
}
