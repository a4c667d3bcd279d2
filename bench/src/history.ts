import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { listMessages } from '@wagate/db/queries/messages/history-pages'
import { quantile, significant } from '@wagate/test-kit/statistics'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { dropFileCache } from './history/drop-file-cache.ts'
import { accountId, fillHistory, type Size } from './history/fill.ts'
import { type PagePosition, pickPositions } from './history/positions.ts'
import { limit, openForReading, type Read, readsOf } from './history/reads.ts'
import type { Row } from './table.ts'
import { withThrowAwayPostgres } from './throw-away-postgres.ts'

const sizes: Record<'full' | 'short', Size & { pages: number }> = {
  full: { messages: 10_000_000, senders: 20, contacts: 200_000, weeks: 26, pages: 100 },
  short: { messages: 200_000, senders: 20, contacts: 4000, weeks: 26, pages: 12 },
}
/** Of the full run. */
const pageMsMax = 100
/** More of them would read most of the history into memory. */
const pagesBetweenDrops = 4

type Sample = PagePosition & { filter: string; messages: number; diskMs: number; memoryMs: number }

/** The time for a page of the history of an account with many messages, and whether it exceeds the limit. */
export async function measureHistory({ short, signal }: BenchmarkOptions): Promise<Report> {
  const size = short ? sizes.short : sizes.full
  return withThrowAwayPostgres({ shards: 256, signal }, async ({ url }) => {
    const filling = openDatabase(url, { poolSize: 1, applicationName: 'bench', statementTimeoutMs: 600_000 })
    const db = openForReading(url)
    try {
      await fillHistory(filling.$client, size, signal)
      const reads = readsOf(db, url)
      const positions = await pickPositions(filling, size, size.pages * Object.keys(reads).length)
      const samples: Sample[] = []
      for (let page = 0; page < size.pages; page++) {
        signal.throwIfAborted()
        if (page % pagesBetweenDrops === 0) {
          await dropFileCache(filling.$client)
          await warmConnection(db)
        }
        samples.push(...(await measureInTurn(reads, positions)))
      }
      return { ...makeReport(size, samples), ...(!short && { failure: findFailure(samples) }) }
    } finally {
      await Promise.all([closeDatabase(filling), closeDatabase(db)])
    }
  })
}

/** Reads a page of another account, so that the connection is open and Postgres has read its catalogs. */
async function warmConnection(db: Database): Promise<void> {
  await listMessages(db, accountId + 1, { limit: 1 })
}

/** Reads each once in turn and at its own position, so that other load on the machine affects all of them. */
async function measureInTurn(reads: Record<string, Read>, positions: PagePosition[]): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const [filter, read] of Object.entries(reads)) {
    const position = positions.pop()
    if (!position) throw new Error('There are too few positions')
    const startedAt = performance.now()
    const messages = await read(position)
    const readAt = performance.now()
    await read(position)
    const memoryMs = performance.now() - readAt
    samples.push({ filter, ...position, messages, diskMs: readAt - startedAt, memoryMs })
  }
  return samples
}

function makeReport(size: Size, samples: Sample[]): Report {
  const names = [...new Set(samples.map(({ filter }) => filter))]
  return {
    tables: [
      {
        title: `Pages of up to ${limit} messages, ms: from the disk, and once more from memory`,
        rows: names.map((name) => rowOf(samples.filter(({ filter }) => filter === name))),
      },
    ],
    notes: [
      `${size.messages} messages of the account in ${size.weeks} weeks, ${size.senders} senders, ${size.contacts} numbers.`,
    ],
    samples,
  }
}

function rowOf(pages: Sample[]): Row {
  const of = (figure: 'diskMs' | 'memoryMs' | 'messages', share: number) => {
    const values = pages.map((page) => page[figure])
    return significant(quantile(values, share))
  }
  return {
    filter: pages[0]?.filter ?? '',
    'disk p50': of('diskMs', 0.5),
    'disk p99': of('diskMs', 0.99),
    'disk max': of('diskMs', 1),
    'memory p50': of('memoryMs', 0.5),
    'memory p99': of('memoryMs', 0.99),
    'memory max': of('memoryMs', 1),
    'messages p50': of('messages', 0.5),
    pages: pages.length,
  }
}

function findFailure(samples: Sample[]): string | undefined {
  const [slowest] = samples.toSorted((a, b) => slowerMs(b) - slowerMs(a))
  if (!slowest || slowerMs(slowest) <= pageMsMax) return undefined
  const tooSlow = samples.filter((page) => slowerMs(page) > pageMsMax).length
  return `The slowest page took ${Math.round(slowerMs(slowest))} ms (${slowest.filter}), and ${tooSlow} of ${samples.length} more than ${pageMsMax} ms.`
}

const slowerMs = ({ diskMs, memoryMs }: Sample) => Math.max(diskMs, memoryMs)
