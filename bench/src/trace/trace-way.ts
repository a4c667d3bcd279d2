import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevnet } from '@wagate/devnet/devnet'
import type { DevnetOptions } from '@wagate/devnet/devnet-options'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { makePhones } from '@wagate/test-kit/load/phones'
import { openGateway } from '@wagate/test-kit/load/pooled-client'
import { openRecords } from '@wagate/test-kit/load/records'
import {
  type CalledFunction,
  openTracedProcess,
  type TracedProcess,
  traceEnvironment,
} from './traced-process.ts'
import { type Traced, type Way, ways } from './ways.ts'

/** In the order in which its files were first entered, and in each the functions likewise. */
export type Trace = {
  title: string
  files: TracedFile[]
  answeredMs: number
  /** Functions that ran each time, and whose entry was not seen. */
  unseen: CalledFunction[]
}

export type TracedFile = { process: string; file: string; ms: number; functions: CalledFunction[] }

const processNames = ['api', 'worker-1']
const warmUps = 4
const counted = 5
const ordered = 5
/** So long that few of these run meanwhile. */
const rareTicks = { HEARTBEAT_MS: '20000', LEASE_TTL_MS: '120000', OUTBOX_POLL_MS: '60000' }

/**
 * Starts a system from source, takes the way until it is warm, and counts which functions run in most of five rounds:
 * what also runs at rest, such as a heartbeat, does not. In five more rounds the entries of these functions are watched,
 * which tells their order.
 */
export async function traceWay(name: string, options: DevnetOptions = {}): Promise<Trace> {
  const folder = await mkdtemp(join(tmpdir(), 'wagate-trace-'))
  const environment = (process: string) =>
    processNames.includes(process) ? { ...rareTicks, ...traceEnvironment(folder, process) } : {}
  try {
    const devnet = await startDevnet({ ...options, workers: 1, environment })
    const gateway = openGateway(devnet.apiUrl, devnet.adminKey.apiKey ?? '', 2)
    const records = openRecords(devnet.databaseUrl)
    try {
      const phones = makePhones(devnet.simulator?.controlUrl ?? '')
      const [sender = ''] = senderNumbers(1)
      await linkSenders({ gateway, phones, records }, [sender])
      const processes = processNames.map((process) => openTracedProcess(folder, process))
      return await trace(processes, name, { gateway, phones, records, sender })
    } finally {
      gateway.close()
      await records.close()
      await devnet.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function trace(processes: TracedProcess[], name: string, traced: Traced): Promise<Trace> {
  const way = ways[name]?.(traced)
  if (!way) throw new Error(`Unknown way: ${name}`)
  for (let round = 0; round < warmUps; round++) await way.go()
  for (const process of processes) await process.startCounting()
  const called = await callsOfEach(processes, way)
  await Promise.all(processes.map((process, at) => process.watch(called[at] ?? [])))
  const { entered, answeredMs } = await enteredInOrder(processes, way)
  const seen = new Set(entered.map(({ called }) => called))
  const unseen = called.flat().filter((one) => !seen.has(one))
  return { title: way.title, files: byFile(entered), answeredMs, unseen }
}

/** For each process, the functions that ran in most rounds. */
async function callsOfEach(processes: TracedProcess[], way: Way): Promise<CalledFunction[][]> {
  const rounds = processes.map(() => new Map<string, { called: CalledFunction; times: number }>())
  for (let round = 0; round < counted; round++) {
    await Promise.all(processes.map((process) => process.takeCalled()))
    await way.go()
    for (const [at, process] of processes.entries()) {
      for (const called of await process.takeCalled()) {
        const key = `${called.file}:${called.start}`
        const times = (rounds[at]?.get(key)?.times ?? 0) + 1
        rounds[at]?.set(key, { called, times })
      }
    }
  }
  const isMost = ({ times }: { times: number }) => times > counted / 2
  return rounds.map((functions) => [...functions.values()].filter(isMost).map(({ called }) => called))
}

type Entered = { process: string; called: CalledFunction; ms: number }
type Order = { entered: Entered[]; answeredMs: number }

/**
 * Each at its latest time of all rounds: what a tick entered earlier in some of them counts for nothing, and what came
 * before something else in every round also does in the result.
 */
async function enteredInOrder(processes: TracedProcess[], way: Way): Promise<Order> {
  const times = new Map<CalledFunction, { process: string; all: number[] }>()
  const answers: number[] = []
  for (let round = 0; round < ordered; round++) {
    await Promise.all(processes.map((process) => process.takeEntered()))
    const { startedMs, answeredMs } = await way.go()
    answers.push(answeredMs - startedMs)
    for (const process of processes) {
      for (const { called, ms } of await process.takeEntered()) {
        const found = times.get(called) ?? { process: process.name, all: [] }
        found.all.push(ms - startedMs)
        times.set(called, found)
      }
    }
  }
  const entered = [...times].map(([called, { process, all }]) => ({
    process,
    called,
    ms: Math.max(...all),
  }))
  return { entered: entered.sort((one, other) => one.ms - other.ms), answeredMs: Math.max(...answers) }
}

function byFile(entered: Entered[]): TracedFile[] {
  const files = new Map<string, TracedFile>()
  for (const { process, called, ms } of entered) {
    const key = `${process} ${called.file}`
    const file = files.get(key) ?? { process, file: called.file, ms, functions: [] }
    file.functions.push(called)
    files.set(key, file)
  }
  return [...files.values()]
}
