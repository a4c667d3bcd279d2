import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RedisProgram, RedisSearch } from './redis-program.ts'

const version = '0.3.0'
/** Its manifest and a lockfile with the checksums of it and of all that it needs. */
const locked = fileURLToPath(new URL('./redis-in-js', import.meta.url))

/** The last resort: slow, but enough to try the system out. */
export function findRedisInJs(search: RedisSearch): RedisProgram | undefined {
  const folder = join(search.vendorFolder, 'js-redis-server')
  const program = join(folder, 'node_modules/js-redis-server/dist/cli.js')
  if (!existsSync(program)) {
    search.report('No Redis found: fetching js-redis-server, which is slow and keeps nothing')
    mkdirSync(folder, { recursive: true })
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(locked, file), join(folder, file))
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
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
