import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { endLeftover } from './leftover.ts'
import { type Cluster, openCluster } from './postgres-cluster.ts'
import { findPostgresFiles } from './postgres-files.ts'
import { findRunAs, type RunAs } from './run-as.ts'
import { type ServerProcess, spawnServer, waitUntilReady } from './server-process.ts'

export type PostgresOptions = {
  folder: string
  logFile: string
  /** False trades safety against a crash for speed: for data that is thrown away. */
  durable: boolean
  signal?: AbortSignal
}

export type Postgres = {
  url: string
  /** Where the data really is, which for root may differ from the folder asked for. */
  folder: string
  process: ServerProcess
  stop(): Promise<void>
}

const attemptsMax = 10

/** A real Postgres on a free loopback port. Keeps its data and its port in the folder. */
export async function startPostgres({
  folder,
  logFile,
  durable,
  signal,
}: PostgresOptions): Promise<Postgres> {
  const runAs = findRunAs()
  const programs = findPostgresFiles(runAs)
  const cluster = openCluster(folder, programs, runAs)
  await endLeftover(readPostmasterPid(cluster), cluster.data, 'SIGINT')
  for (let attempt = 1; ; attempt++) {
    // Whatever asked to stop could not be heard while the cluster was made.
    await setImmediate()
    signal?.throwIfAborted()
    try {
      return await launch(cluster, programs, runAs, logFile, durable)
    } catch (error) {
      // After kill -9 its children need a moment to end, and a free port may be taken by another in between.
      if (attempt === attemptsMax) throw error
      await delay(200)
    }
  }
}

async function launch(
  cluster: Cluster,
  programs: string,
  runAs: RunAs | undefined,
  logFile: string,
  durable: boolean,
): Promise<Postgres> {
  const remembered = existsSync(cluster.portFile) ? Number(readFileSync(cluster.portFile, 'utf8')) : 0
  const port = await freePort(remembered)
  const settings = { ...baseSettings, ...(durable ? {} : throwAwaySettings), port }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const as = runAs ? { uid: runAs.uid, gid: runAs.gid } : {}
  const server = await spawnServer(join(programs, 'bin/postgres'), ['-D', cluster.data, ...args], logFile, {
    cwd: '/',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    ...as,
  })
  await waitUntilReady(server, 'Postgres', logFile, () => isReady(cluster, server.pid))
  writeFileSync(cluster.portFile, String(port))
  return {
    url: `postgres://postgres:${cluster.password}@127.0.0.1:${port}/wagate`,
    folder: cluster.data,
    process: server,
    stop: () => server.stop(durable ? 'SIGINT' : 'SIGQUIT'),
  }
}

const baseSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 300,
  timezone: 'UTC',
  log_timezone: 'UTC',
}

const throwAwaySettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // The folder may be in memory.
  max_wal_size: '256MB',
}

/** Postgres writes its state into line 8 of this file, and its process number into line 1. */
function readPostmasterFile({ data }: Cluster): string[] {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}

function readPostmasterPid(cluster: Cluster): number {
  return Number(readPostmasterFile(cluster)[0] ?? 0)
}

function isReady(cluster: Cluster, pid: number): boolean {
  return readPostmasterPid(cluster) === pid && isOpen.has(readPostmasterFile(cluster)[7]?.trim() ?? '')
}

/** A standby accepts connections as well, but no writes. */
const isOpen = new Set(['ready', 'standby'])
