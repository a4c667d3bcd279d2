import { resolve } from 'node:path'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import type { DevnetOptions } from '@wagate/devnet/devnet-options'
import { makePhones, type Phones } from './load/phones.ts'
import { type Gateway, openGateway } from './load/pooled-client.ts'
import { openRecords, type Records } from './load/records.ts'
import { unlimited } from './unlimited.ts'

/** A whole system on the simulated network, for fault trials and benchmarks. */
export type System = { devnet: Devnet; gateway: Gateway; phones: Phones; records: Records }

/** More connections than concurrent requests: waiting for a connection would look like a slow answer. */
const connections = 128

/** Logs only problems, so that logging costs the measured processes nothing. */
const quick = { ...unlimited, LOG_LEVEL: 'warn' }

/** Starts a system for load: requests go over pooled connections, and records are read from the database. */
export async function openSystem(options: DevnetOptions): Promise<System & { close(): Promise<void> }> {
  const environment = (name: string) => ({ ...quick, ...options.environment?.(name) })
  const devnet = await startDevnet({ ...options, environment })
  const gateway = openGateway(devnet.apiUrl, devnet.adminKey.apiKey ?? '', connections)
  const records = openRecords(devnet.databaseUrl)
  const phones = makePhones(devnet.simulator?.controlUrl ?? '')
  return {
    devnet,
    gateway,
    records,
    phones,
    async close() {
      gateway.close()
      await records.close()
      await devnet.close()
    },
  }
}

/** Runs the work with a system, and closes the system afterwards. */
export async function withSystem<Result>(
  options: DevnetOptions,
  work: (system: System) => Promise<Result>,
): Promise<Result> {
  const system = await openSystem(options)
  try {
    return await untilAborted(work(system), options.signal)
  } finally {
    await system.close()
  }
}

/** A data folder that outlives the run, where one is named. */
export function keptIn(folder: string | undefined): Pick<DevnetOptions, 'dataFolder'> {
  return folder ? { dataFolder: resolve(folder) } : {}
}

function untilAborted<Result>(work: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (!signal) return work
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  return Promise.race([work, aborted])
}
