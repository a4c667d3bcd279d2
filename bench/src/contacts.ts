import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { inLanes } from '@wagate/test-kit/load/in-lanes'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { memoryProbe, readHeapBytes } from './memory-probe.ts'
import type { Row } from './table.ts'

/** Baileys keeps the last 512 messages of a connection, so the first count is larger than that. */
const sizes = { full: [1000, 3000, 5000, 6000], short: [700, 1100, 1500] }
const lanes = 16
const sentMs = 400_000

type Sample = { contacts: number; heap: number; rows: number; stored: number; largest: number }

/** The cost of one more contact of one sender: heap of the worker, and rows and bytes in Postgres. */
export async function measureContacts({ short, signal }: BenchmarkOptions): Promise<Report> {
  const counts = short ? sizes.short : sizes.full
  const folder = mkdtempSync(join(tmpdir(), 'wagate-bench-'))
  const file = join(folder, 'memory.json')
  const environment = (name: string) => (name === 'worker-1' ? memoryProbe(file) : {})
  try {
    return await withSystem({ workers: 1, environment, signal }, async (system) => {
      const [sender = ''] = senderNumbers(1)
      await linkSenders(system, [sender])
      const samples: Sample[] = []
      for (const contacts of counts) {
        await writeTo(system, sender, samples.at(-1)?.contacts ?? 0, contacts)
        const heap = await readHeapBytes(system.devnet.pid('worker-1') ?? 0, file)
        samples.push({ contacts, heap, ...(await readAtRest(system)) })
      }
      return makeReport(samples)
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function writeTo(
  { gateway, records }: System,
  sender: string,
  from: number,
  to: number,
): Promise<void> {
  const startedAtMs = Date.now()
  const contacts = Array.from({ length: to - from }, (_, index) => from + index)
  await inLanes(contacts, lanes, async (contact) => {
    const number = String(15_560_000_000 + contact)
    const { status, body } = await gateway.call('send-message', {
      sender,
      number,
      message: `Hello ${contact}`,
    })
    if (status !== 200) throw new Error(`Refused with ${status}: ${JSON.stringify(body)}`)
  })
  await until('all contacts have their message', { withinMs: sentMs, everyMs: 250 }, async () => {
    return (await records.countSince(startedAtMs, 'sent')) >= contacts.length
  })
}

async function readAtRest({ devnet }: System): Promise<Pick<Sample, 'rows' | 'stored' | 'largest'>> {
  const db = openDatabase(devnet.databaseUrl, {
    poolSize: 1,
    applicationName: 'wagate-bench',
    statementTimeoutMs: 30_000,
  })
  try {
    const [row] = await db.$client<[{ rows: number; stored: number; largest: number }]>`
      SELECT count(*)::int AS rows, sum(length(value) + length(type) + length(id))::int AS stored,
        max(length(value))::int AS largest
      FROM device_auth WHERE type NOT IN ('pre-key', 'creds')`
    return row
  } finally {
    await closeDatabase(db)
  }
}

function makeReport(samples: Sample[]): Report {
  const rows = samples.slice(1).map((sample, index): Row => {
    const before = samples[index] ?? sample
    const each = (of: (given: Sample) => number) =>
      (of(sample) - of(before)) / (sample.contacts - before.contacts)
    return {
      contacts: `${before.contacts} to ${sample.contacts}`,
      'B of heap each': Math.round(each(({ heap }) => heap)),
      'rows each': Math.round(10 * each((given) => given.rows)) / 10,
      'B at rest each': Math.round(each(({ stored }) => stored)),
      'B of the largest value': sample.largest,
    }
  })
  return {
    tables: [{ title: 'What one more contact of one sender costs', rows }],
    notes: [
      'The cache of stored values fills up to 384 KiB for a sender first, and that of numbers is bounded for the process.',
    ],
    samples,
  }
}
