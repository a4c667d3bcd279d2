import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RedisProgram, RedisSearch } from './redis-program.ts'

const version = '0.3.0'

/** The last resort: enough to look around, no more. */
export function findRedisInJs(search: RedisSearch): RedisProgram | undefined {
  const folder = join(search.vendorFolder, 'js-redis-server')
  const program = join(folder, 'node_modules/js-redis-server/dist/cli.js')
  if (!existsSync(program)) {
    search.report('No Redis found: fetching js-redis-server, which is slow and keeps nothing')
    mkdirSync(folder, { recursive: true })
    const args = ['install', '--prefix', folder, '--no-save', '--no-audit', `js-redis-server@${version}`]
    if (spawnSync('npm', args, { cwd: folder, timeout: 120_000 }).status !== 0) return undefined
  }
  return {
    source: `js-redis-server ${version}, which is SLOW AND KEEPS NOTHING (install redis-server for a real one)`,
    keepsData: false,
    command: ({ port }) => ({
      command: process.execPath,
      args: [program, '--single', '--port', String(port)],
      env: process.env,
    }),
  }
}
