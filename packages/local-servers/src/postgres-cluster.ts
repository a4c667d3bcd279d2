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
import { rootLocation } from './postgres-files.ts'
import { canEnter, type RunAs } from './run-as.ts'

const major = '18'

/** `data` is Postgres' own folder; `port` remembers the last port, so that a client's settings stay right. */
export type Cluster = { data: string; password: string; portFile: string }

/** Opens the database cluster in the folder, or makes one there with an empty database `wagate`. */
export function openCluster(folder: string, programs: string, runAs: RunAs | undefined): Cluster {
  const location = findLocation(folder, runAs)
  if (!existsSync(location)) createCluster(location, programs, runAs)
  const data = join(location, 'data')
  const found = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  if (found !== major)
    throw new Error(
      `${data} was made by Postgres ${found}, and Postgres ${major} comes with this version. ` +
        `Dump it with the earlier version of wagate and pg_dump, or move the folder away to start empty.`,
    )
  return {
    data,
    password: readFileSync(join(location, 'password'), 'utf8'),
    portFile: join(location, 'port'),
  }
}

/** If the account cannot enter the folder, the folder becomes a link to one that it can enter. */
function findLocation(folder: string, runAs: RunAs | undefined): string {
  if (existsSync(folder)) return realpathSync(folder)
  const parent = dirname(folder)
  if (canEnter(parent, runAs)) return join(realpathSync(parent), 'postgres')
  const name = `data-${randomBytes(6).toString('hex')}`
  if (lstatSync(folder, { throwIfNoEntry: false })) rmSync(folder)
  mkdirSync(join(rootLocation, name), { recursive: true })
  chmodSync(rootLocation, 0o755)
  chmodSync(join(rootLocation, name), 0o711)
  symlinkSync(join(rootLocation, name, 'postgres'), folder)
  return join(rootLocation, name, 'postgres')
}

/** Created beside its location and renamed when complete, so that an interrupted start leaves no incomplete cluster. */
function createCluster(location: string, programs: string, runAs: RunAs | undefined): void {
  const unfinished = `${location}.new`
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
  renameSync(unfinished, location)
}

function run(command: string, args: string[], runAs: RunAs | undefined, input = ''): void {
  const as = runAs ? { uid: runAs.uid, gid: runAs.gid } : {}
  const { status, stderr, error } = spawnSync(command, args, { cwd: '/', input, encoding: 'utf8', ...as })
  if (status !== 0) throw new Error(`${command} failed:\n${stderr ?? ''}`, { cause: error })
}
