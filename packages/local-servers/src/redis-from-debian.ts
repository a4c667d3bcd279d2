import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readVersion } from './redis-on-path.ts'
import type { RedisProgram, RedisSearch } from './redis-program.ts'

const run = promisify(execFile)

/** The one that an earlier run fetched. */
export function findVendoredRedis(vendorFolder: string): RedisProgram | undefined {
  const folder = join(vendorFolder, 'redis')
  const command = join(folder, 'usr/bin/redis-server')
  if (!existsSync(command)) return undefined
  const libraries = ['usr/lib', 'lib'].flatMap((lib) => foldersIn(join(folder, lib)))
  const env = { ...process.env, LD_LIBRARY_PATH: libraries.join(':') }
  const version = readVersion(command, env)
  if (!version) return undefined
  return {
    source: `redis-server ${version} from the distribution's package, private in ${folder}`,
    keepsData: true,
    command: () => ({ command, args: ['redis.conf'], env }),
  }
}

/** Unpacks the distribution's own package into the vendor folder. Needs no root, and installs nothing. */
export async function fetchRedisFromDebian(search: RedisSearch): Promise<RedisProgram | undefined> {
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/var/lib/dpkg/status')) return undefined
  search.report('Fetching Redis from the distribution into .data/vendor (nothing is installed)')
  const work = join(search.vendorFolder, `redis.${process.pid}`)
  const root = join(work, 'root')
  try {
    mkdirSync(root, { recursive: true })
    for (const archive of await download(work, search.signal))
      await run('dpkg', ['-x', archive, root], { signal: search.signal })
    const server = join(root, 'usr/bin/redis-server')
    // On Debian 12 one program of redis-tools is the server too; which it is, its name decides.
    if (!existsSync(server)) symlinkSync('redis-check-rdb', server)
    const location = join(search.vendorFolder, 'redis')
    if (!findVendoredRedis(search.vendorFolder)) {
      rmSync(location, { recursive: true, force: true })
      renameSync(root, location)
    }
  } catch (error) {
    search.signal.throwIfAborted()
    search.report(`The distribution's package could not be fetched: ${String(error).split('\n')[0]}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return findVendoredRedis(search.vendorFolder)
}

async function download(work: string, signal: AbortSignal): Promise<string[]> {
  const lists = join(work, 'state/lists')
  const archives = join(work, 'cache/archives')
  for (const folder of [lists, archives]) mkdirSync(join(folder, 'partial'), { recursive: true })
  const settings = [
    `Dir::State=${join(work, 'state')}`,
    `Dir::State::lists=${lists}`,
    `Dir::Cache=${join(work, 'cache')}`,
    'Dir::State::status=/var/lib/dpkg/status',
    'Debug::NoLocking=1',
    'APT::Sandbox::User=',
    'Acquire::Languages=none',
  ]
  const args = ['-qq', '-y', ...settings.flatMap((setting) => ['-o', setting])]
  await run('apt-get', [...args, 'update'], { signal })
  const install = ['--no-install-recommends', '--download-only', 'install', 'redis-server']
  await run('apt-get', [...args, ...install], { signal })
  return readdirSync(archives)
    .filter((name) => name.endsWith('.deb'))
    .map((name) => join(archives, name))
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(folder, entry.name))
}
