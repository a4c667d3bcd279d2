import { resolve } from 'node:path'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import type { DevnetOptions } from '@wagate/devnet/devnet-options'
import { makePhones, type Phones } from './load/phones.ts'
import { type Gateway, openGateway } from './load/pooled-client.ts'
import { openRecords, type Records } from './load/records.ts'

/** A whole running wagate on the simulated network, and ways to look at it. */
export type System = { devnet: Devnet; gateway: Gateway; phones: Phones; records: Records }

/** More than requests at a time: one that waited for a connection would look like a slow answer. */
const connections = 128

/** Without limits and an own pace, and with nothing to read but problems. */
const quick = {
  SEND_RATE_PER_MINUTE: '0',
  LIMIT_REQUESTS_PER_SECOND: '0',
  LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '0',
  LIMIT_QR_CODES_PER_MINUTE: '0',
  LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '0',
  LOG_LEVEL: 'warn',
}

/** Brings the system up; it stands until it is closed. */
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

/** Brings the system up for the time of the work. */
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
