import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Benchmark } from './benchmark.ts'
import { describeMachine, formatMachine } from './machine.ts'
import { formatTable } from './table.ts'

const benchmarks: Record<string, () => Promise<Benchmark>> = {
  accept: async () => (await import('./accept.ts')).measureAccept,
  throughput: async () => (await import('./throughput.ts')).measureThroughput,
  'send-costs': async () => (await import('./send-costs.ts')).measureSendCosts,
  memory: async () => (await import('./memory.ts')).measureMemory,
  contacts: async () => (await import('./contacts.ts')).measureContacts,
  restart: async () => (await import('./restart.ts')).measureRestart,
  failover: async () => (await import('./failover.ts')).measureFailover,
  inbound: async () => (await import('./inbound.ts')).measureInbound,
  events: async () => (await import('./events.ts')).measureEvents,
  linking: async () => (await import('./linking.ts')).measureLinking,
  files: async () => (await import('./files.ts')).measureFiles,
  media: async () => (await import('./media.ts')).measureMedia,
  'hostile-media': async () => (await import('./hostile-media.ts')).measureHostileMedia,
  parameters: async () => (await import('./parameters.ts')).measureParameters,
  neighbours: async () => (await import('./neighbours.ts')).measureNeighbours,
  scaling: async () => (await import('./scaling.ts')).measureScaling,
  idle: async () => (await import('./idle.ts')).measureIdle,
  statements: async () => (await import('./statements.ts')).measureStatements,
  history: async () => (await import('./history.ts')).measureHistory,
  mass: async () => (await import('./mass.ts')).measureMass,
  soak: async () => (await import('./soak.ts')).measureSoak,
}

const usage = `Usage: node bench/run.mjs <${Object.keys(benchmarks).join('|')}> [options]

  --short            a short form, in about half a minute
  --json <file>      writes the figures with every single measurement
  --data <folder>    keeps the linked senders there for the next run
  --profile <folder> throughput, send-costs, inbound: writes CPU profiles of a worker (throughput: also of Baileys alone,
                     accept: of the API) and prints the most expensive functions
  --kills <number>   failover: number of SIGKILLs of a worker whose senders the other takes over (10)
  --senders <number> failover, inbound: number of senders (20, 200)`

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => stopping.abort(new Error(`Stopped by ${signal}`)))
}
process.on('disconnect', () => stopping.abort(new Error('The launcher ended')))

try {
  await main()
} catch (error) {
  console.error(stopping.signal.aborted ? 'Stopped.' : error)
  // The benchmark may still be waiting for an event that will not come.
  process.exit(1)
}
if (process.connected) process.disconnect()

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      json: { type: 'string' },
      data: { type: 'string' },
      profile: { type: 'string' },
      kills: { type: 'string' },
      senders: { type: 'string' },
    },
  })
  const [name = ''] = positionals
  const load = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined
  if (!load) {
    console.error(usage)
    process.exitCode = 2
    return
  }
  const machine = describeMachine()
  console.log(`${name}${values.short ? ' (short)' : ''}: ${formatMachine(machine)}`)
  const startedAt = performance.now()
  const measure = await load()
  const report = await measure({
    ...values,
    kills: readCount('kills', values.kills),
    senders: readCount('senders', values.senders),
    signal: stopping.signal,
  })
  for (const table of report.tables) console.log(`\n${formatTable(table)}`)
  for (const note of report.notes) console.log(`\n${note}`)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  console.log(`\n${seconds} s, load at the end ${describeMachine().load.join(' / ')}`)
  if (values.json) {
    const content = { name, isShort: values.short, machine, atEnd: describeMachine(), seconds, ...report }
    writeFileSync(values.json, `${JSON.stringify(content, null, 2)}\n`)
  }
  if (report.failure) {
    console.error(`\n${report.failure}`)
    process.exitCode = 1
  }
}

function readCount(option: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^[1-9]\d*$/.test(text))
    throw new Error(`--${option} must be a whole number of at least 1`)
  return text === undefined ? undefined : Number(text)
}
