import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { rootPlace } from './postgres-files.ts'
import { canEnter, type RunAs } from './run-as.ts'

const major = '18'

/** `data` is Postgres' own folder; `port` remembers the last port, so that a client's settings stay right. */
export type Cluster = { data: string; password: string; portFile: string }

/** Opens the database cluster in the folder, or makes one there with an empty database `wagate`. */
export function openCluster(folder: string, programs: string, runAs: RunAs | undefined): Cluster {
  const place = findPlace(folder, runAs)
  if (!existsSync(place)) createCluster(place, programs, runAs)
  const data = join(place, 'data')
  const found = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  if (found !== major)
    throw new Error(
      `${data} was made by Postgres ${found}, and Postgres ${major} comes with this version. ` +
        `Dump it with the earlier version of wagate and pg_dump, or move the folder away to start empty.`,
    )
  return { data, password: readFileSync(join(place, 'password'), 'utf8'), portFile: join(place, 'port') }
}

/** Where the account cannot enter, the folder becomes a link to a place where it can. */
function findPlace(folder: string, runAs: RunAs | undefined): string {
  if (existsSync(folder)) return realpathSync(folder)
  const parent = dirname(folder)
  if (canEnter(parent, runAs)) return join(realpathSync(parent), 'postgres')
  const name = `data-${randomBytes(6).toString('hex')}`
  if (lstatSync(folder, { throwIfNoEntry: false })) rmSync(folder)
  mkdirSync(join(rootPlace, name), { recursive: true })
  chmodSync(rootPlace, 0o755)
  chmodSync(join(rootPlace, name), 0o711)
  symlinkSync(join(rootPlace, name, 'postgres'), folder)
  return join(rootPlace, name, 'postgres')
}

/** Made beside its place and renamed when complete: an interrupted start leaves nothing half done. */
function createCluster(place: string, programs: string, runAs: RunAs | undefined): void {
  const unfinished = `${place}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { mode: 0o700 })
  const password = join(unfinished, 'password')
  writeFileSync(password, randomBytes(18).toString('base64url'), { mode: 0o600 })
  if (runAs) for (const path of [unfinished, password]) chownSync(path, runAs.uid, runAs.gid)

  const data = join(unfinished, 'data')
  const settings = [
    '--locale-provider=builtin',
    '--locale=C.UTF-8',
    '--encoding=UTF8',
    '--auth=scram-sha-256',
  ]
  const files = ['-D', data, '-U', 'postgres', '--pwfile', password, '--no-sync']
  run(join(programs, 'bin/initdb'), [...settings, ...files], runAs)
  run(join(programs, 'bin/postgres'), ['--single', '-D', data, 'postgres'], runAs, 'CREATE DATABASE wagate\n')
  renameSync(unfinished, place)
}

function run(command: string, args: string[], runAs: RunAs | undefined, input = ''): void {
  const as = runAs ? { uid: runAs.uid, gid: runAs.gid } : {}
  const { status, stderr, error } = spawnSync(command, args, { cwd: '/', input, encoding: 'utf8', ...as })
  if (status !== 0) throw new Error(`${command} failed:\n${stderr ?? ''}`, { cause: error })
}
