import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shape as apiShape } from '@wagate/api/config'
import { repository } from '@wagate/devnet/app-process'
import { shape as workerShape } from '@wagate/worker/config/config'

export const composeFile = join(repository, 'docker-compose.yml')

/** Chosen by docker-compose.yml or by the images, for the reason given. */
const chosen = new Set([
  'DATABASE_URL', // the role of the service
  'REDIS_URL',
  'MEDIA_FOLDER', // the volume
  'HOST', // the container's, not the machine's
  'PORT', // the published port
  'METRICS_HOST',
  'METRICS_PORT',
  'WORKER_NAME', // replicas need different ones
  'HOUSEKEEPING', // a separate service
  'BOOTSTRAP_ADMIN_EMAIL', // "admin create" is the way: a container keeps no file but those of its volume
  'BOOTSTRAP_KEY_FILE',
])

/** The settings that the API and the worker get from .env. */
export const handedOn = {
  api: Object.keys(apiShape).filter((name) => !chosen.has(name)),
  worker: Object.keys(workerShape).filter((name) => !chosen.has(name)),
}

/** docker-compose.yml with the name of every setting in the block of the services that read it. */
export function withSettings(
  text = readFileSync(composeFile, 'utf8'),
  { api, worker }: Record<keyof typeof handedOn, string[]> = handedOn,
): string {
  const blocks = [
    { start: /^x-settings: .*\n/m, names: api.filter((name) => worker.includes(name)) },
    {
      start: /^ {2}api:\n(?: {4}.*\n)*? {4}environment:\n/m,
      names: api.filter((name) => !worker.includes(name)),
    },
    {
      start: /^ {2}worker:\n(?: {4}.*\n)*? {4}environment:\n/m,
      names: worker.filter((name) => !api.includes(name)),
    },
  ]
  return blocks.reduce((written, { start, names }) => {
    const found = start.exec(written)
    if (!found) throw new Error(`docker-compose.yml has no block ${start}`)
    const from = found.index + found[0].length
    const indent = /^ */.exec(written.slice(from))?.[0] ?? ''
    const [block = ''] = new RegExp(`^(?:${indent}.*\\n)*`).exec(written.slice(from)) ?? []
    return written.slice(0, from) + fillBlock(block, indent, names) + written.slice(from + block.length)
  }, text)
}

/** Names that are there keep their place, others follow the last of them. Those with a value are not of `names`. */
function fillBlock(block: string, indent: string, names: string[]): string {
  const nameIn = (line: string) => /^ *([A-Z]\w*):(?: \$\{\1\b.*)?$/.exec(line)?.[1]
  const lines = block.trimEnd().split('\n')
  const kept = lines.filter((line) => !/^ *[A-Z]\w*:$/.test(line) || names.includes(String(nameIn(line))))
  const present = kept.map(nameIn)
  const added = names.filter((name) => !present.includes(name)).map((name) => `${indent}${name}:`)
  const end = kept.findLastIndex((line) => nameIn(line) !== undefined) + 1
  return [...kept.slice(0, end), ...added, ...kept.slice(end), ''].join('\n')
}
