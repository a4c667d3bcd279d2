import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { senderNumbers } from '@wagate/test-kit/load/numbers'
import { readRssBytes } from '@wagate/test-kit/resident-memory'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import type { BenchmarkOptions, Report } from './benchmark.ts'

const mebibyte = 2 ** 20
const sizes = { full: { count: 50, senders: 5 }, short: { count: 10, senders: 2 } }
/** Far above the measured values, far below those of a process without bounds. */
const rssMaxMb = { api: 900, worker: 900 }

type Outcome = { accepted: number; refused: number; failed: number }
type Sample = Outcome & { what: string; seconds: number; api: number; worker: number }

/**
 * Resident memory of the API and of a worker with many large media at the same time: as data: URLs, of which the API accepts as
 * many as it has memory for, and as URLs, which must all arrive. Throws when a process takes too much.
 */
export async function measureMedia({ short, data, signal }: BenchmarkOptions): Promise<Report> {
  const { count, senders } = short ? sizes.short : sizes.full
  const environment = () => ({ ALLOW_PRIVATE_MEDIA_HOSTS: 'true' })
  const server = await openMediaServer(100 * mebibyte)
  try {
    return await withSystem({ workers: 1, environment, signal, ...keptIn(data) }, async (system) => {
      const numbers = senderNumbers(senders)
      await linkSenders(system, numbers)
      const inline = `data:application/pdf;base64,${Buffer.alloc(17.9 * mebibyte).toString('base64')}`
      const { port } = server.address() as AddressInfo
      const samples = [
        await weigh(
          system,
          'data: URLs of 24 MiB',
          sendAll(system, numbers, count, () => inline),
        ),
        await weigh(
          system,
          'URLs of 100 MiB',
          sendAll(system, numbers, count, (n) => `http://127.0.0.1:${port}/${n}`),
        ),
      ]
      for (const { what, api, worker } of samples) {
        if (api > rssMaxMb.api || worker > rssMaxMb.worker) {
          throw new Error(`${what}: the API took ${api} MB, the worker ${worker} MB`)
        }
      }
      return makeReport(samples, count)
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function openMediaServer(bytes: number): Promise<Server> {
  const piece = Buffer.alloc(mebibyte, 1)
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': bytes })
    const body = Readable.from(Array.from({ length: bytes / piece.length }, () => piece))
    pipeline(body, response, () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** Sends all at the same time, each to another recipient, and waits until all accepted messages are sent or failed. */
async function sendAll(
  { devnet, records }: System,
  senders: string[],
  count: number,
  urlOf: (n: number) => string,
): Promise<Outcome> {
  const startedAtMs = Date.now()
  const recipients = senderNumbers(count, 2)
  const answers = await Promise.all(
    recipients.map(async (number, n) => {
      const sender = senders[n % senders.length]
      // Not the usual client: its keep-alive connections break when a body is refused before its end.
      return fetch(`${devnet.apiUrl}/send-media`, {
        method: 'POST',
        headers: { 'x-api-key': devnet.adminKey.apiKey ?? '', 'content-type': 'application/json' },
        body: JSON.stringify({ sender, number, type: 'document', url: urlOf(n) }),
      })
    }),
  )
  const strange = answers.find(({ status }) => ![200, 408, 503].includes(status))
  if (strange) throw new Error(`Unexpected response when at capacity: ${await strange.text()}`)
  await until('all media are sent', { withinMs: 600_000, everyMs: 200 }, async () => {
    return (await records.countWaiting()) === 0
  })
  const accepted = answers.filter(({ status }) => status === 200).length
  const failed = (await records.listMessagesSince(startedAtMs)).filter(({ status }) => status === 'failed')
  return { accepted, refused: answers.length - accepted, failed: failed.length }
}

async function weigh({ devnet }: System, what: string, work: Promise<Outcome>): Promise<Sample> {
  const startedAt = performance.now()
  const most = { api: 0, worker: 0 }
  const timer = setInterval(() => {
    most.api = Math.max(most.api, readRssBytes(devnet.pid('api') ?? 0))
    most.worker = Math.max(most.worker, readRssBytes(devnet.pid('worker-1') ?? 0))
  }, 50)
  try {
    const outcome = await work
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    const mb = (bytes: number) => Math.round(bytes / mebibyte)
    return { what, ...outcome, seconds, api: mb(most.api), worker: mb(most.worker) }
  } finally {
    clearInterval(timer)
  }
}

function makeReport(samples: Sample[], count: number): Report {
  return {
    tables: [{ title: `${count} media at the same time, and the peak resident memory, MB`, rows: samples }],
    notes: [
      'Refused: 503 with Retry-After, or 408 where this machine could not send a body within a minute. Seconds until all that were accepted were sent.',
    ],
    samples,
  }
}
