import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { composeFile } from './compose-settings.ts'

export type Service = {
  image: string
  build?: { target: string }
  command?: string[]
  profiles?: string[]
  volumes?: string[]
  deploy?: { replicas: string }
  environment?: Record<string, string | null>
  healthcheck?: { test: string[] }
  networks: string[]
  restart?: string
  read_only?: boolean
  cap_drop?: string[]
  cap_add?: string[]
  security_opt?: string[]
  mem_limit?: string
  pids_limit?: number
  ports?: string[]
}

export const text = readFileSync(composeFile, 'utf8')
export const readCompose = (source: string) => parse(source, { merge: true })
/** As Compose does it where nothing else is set. */
export const interpolate = (source: string, set: Record<string, string> = {}) =>
  source.replace(
    /\$\{(\w+)(?::(.)([^}]*))?\}/g,
    (_, name, kind, value) => set[name] ?? (kind === '-' ? value : 'given'),
  )
/** The services with these variables. */
export const withSet = (set: Record<string, string> = {}): Record<string, Service> =>
  readCompose(interpolate(text, set)).services
export const service = (name: string, set: Record<string, string> = {}): Service => {
  const found = withSet(set)[name]
  if (!found) throw new Error(`There is no service ${name}.`)
  return found
}
