import { spawnSync } from 'node:child_process'
import type { RedisProgram, RedisSearch } from './redis-program.ts'

const version = '0.3.0'

/** The last resort: enough to look around, no more. */
export function findRedisInJs(search: RedisSearch): RedisProgram | undefined {
  const args = ['--yes', '--package', `js-redis-server@${version}`, 'js-redis-server']
  search.report('No Redis found: fetching js-redis-server, which is slow and keeps nothing')
  if (spawnSync('npx', [...args, '--help'], { timeout: 120_000 }).status !== 0) return undefined
  return {
    source: `js-redis-server ${version}, which is SLOW AND KEEPS NOTHING (install redis-server for a real one)`,
    keepsData: false,
    command: ({ port }) => ({
      command: 'npx',
      args: [...args, '--single', '--port', String(port)],
      env: process.env,
    }),
  }
}
