import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@wagate/local-servers/free-port'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { recipientOf, senderNumbers } from '@wagate/test-kit/load/numbers'
import { isFinished, type MessageFacts } from '@wagate/test-kit/load/records'
import { type HostileFile, makeHostileMedia } from '@wagate/test-kit/media/hostile-media'
import { spread } from '@wagate/test-kit/statistics'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import type { BenchmarkOptions, Report } from './benchmark.ts'

const sizes = { full: { scale: 4, quietMs: 20_000 }, short: { scale: 1, quietMs: 5000 } }
const stallMsMax = 200
/** A busy machine stalls every process, so the ratio counts as well. */
const stallRatioMax = 2
const textEveryMs = 100

/**
 * How long the worker's event loop stalls while malicious files are accepted, prepared and sent, and how that affects the
 * texts of other senders. Throws when it stalls for too long.
 */
export async function measureHostileMedia({ short, data, signal }: BenchmarkOptions): Promise<Report> {
  const { scale, quietMs } = short ? sizes.short : sizes.full
  const files = makeHostileMedia(scale)
  const server = await openMediaServer(files)
  const metricsPort = await freePort()
  const environment = (name: string) => ({
    ALLOW_PRIVATE_MEDIA_HOSTS: 'true',
    ...(name === 'worker-1' && { METRICS_PORT: String(metricsPort) }),
  })
  try {
    return await withSystem({ workers: 1, environment, signal, ...keptIn(data) }, async (system) => {
      const [hostile = '', ...others] = senderNumbers(3)
      await linkSenders(system, [hostile, ...others])
      const watch = { system, others, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` }
      // The cost of a new contact must not count for either.
      await measureTexts({ ...watch, others: [hostile, ...others] }, () => delay(4000))
      const quiet = await measureTexts(watch, () => delay(quietMs))
      let outcomes: string[] = []
      const beside = await measureTexts(watch, async () => {
        outcomes = await sendFiles(system, hostile, files, (server.address() as AddressInfo).port)
      })
      if (beside.stallMs > Math.max(stallMsMax, stallRatioMax * quiet.stallMs)) {
        throw new Error(
          `The event loop stalled for ${beside.stallMs} ms, without hostile media ${quiet.stallMs}`,
        )
      }
      return makeReport(
        [
          { beside: 'nothing', ...quiet },
          { beside: 'hostile media', ...beside },
        ],
        outcomes,
      )
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function openMediaServer(files: HostileFile[]): Promise<Server> {
  const server = createServer(({ url = '' }, response) => response.end(files[Number(url.slice(1))]?.bytes))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** Sends every second file as a data: URL. Resolves to the result of each. */
async function sendFiles(
  { gateway, records }: System,
  sender: string,
  files: HostileFile[],
  port: number,
): Promise<string[]> {
  const startedAtMs = Date.now()
  const refused: string[] = []
  for (const [n, { type, bytes }] of files.entries()) {
    const isData = n % 2 === 1 && bytes.length < 12e6
    const url = isData
      ? `data:application/octet-stream;base64,${bytes.toString('base64')}`
      : `http://127.0.0.1:${port}/${n}`
    const { status, body } = await gateway.call('send-media', {
      sender,
      number: recipientOf(sender, n),
      type,
      url,
    })
    if (status !== 200) refused.push(`refused: ${body.code}`)
  }
  for (;;) {
    const messages = (await records.listMessagesSince(startedAtMs)).filter((each) => each.sender === sender)
    if (messages.every(isFinished)) return [...refused, ...messages.map(describe)]
    await delay(500)
  }
}

const describe = ({ status, errorCode }: MessageFacts) => (errorCode ? `failed: ${errorCode}` : status)

type Watch = { system: System; others: string[]; metricsUrl: string }
type Figures = {
  texts: number
  'per s': number
  'p50 ms': number
  'p99 ms': number
  'max ms': number
  stallMs: number
}

/** Sends texts of other senders during the work. */
async function measureTexts(
  { system, others, metricsUrl }: Watch,
  work: () => Promise<void>,
): Promise<Figures> {
  const { gateway } = system
  await readStallMs(metricsUrl)
  const startedAtMs = Date.now()
  let isDone = false
  const working = work().finally(() => {
    isDone = true
  })
  const sends: Promise<unknown>[] = []
  for (let n = 0; !isDone; n++) {
    const sender = others[n % others.length] ?? ''
    sends.push(gateway.call('send-message', { sender, number: recipientOf(sender, n), message: `text ${n}` }))
    await Promise.race([working, delay(textEveryMs)])
  }
  const seconds = (Date.now() - startedAtMs) / 1000
  await Promise.all([working, ...sends])
  const stallMs = await readStallMs(metricsUrl)
  const texts = await listSentTexts(system, startedAtMs)
  const waits = spread(texts.map(({ createdAtMs, sentAtMs }) => (sentAtMs ?? Number.NaN) - createdAtMs))
  return {
    texts: texts.length,
    'per s': Math.round(texts.length / seconds),
    'p50 ms': waits.p50,
    'p99 ms': waits.p99,
    'max ms': waits.max,
    stallMs,
  }
}

async function listSentTexts({ records }: System, sinceMs: number): Promise<MessageFacts[]> {
  for (;;) {
    const texts = (await records.listMessagesSince(sinceMs)).filter(({ type }) => type === 'text')
    if (texts.every(({ sentAtMs }) => sentAtMs !== null)) return texts
    await delay(100)
  }
}

/** The longest stall since the last read. */
async function readStallMs(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text) ?? []
  return Math.round(Number(seconds) * 1000)
}

function makeReport(rows: ({ beside: string } & Figures)[], outcomes: string[]): Report {
  const ends = [...new Set(outcomes)].map((end) => ({
    end,
    files: outcomes.filter((each) => each === end).length,
  }))
  return {
    tables: [
      { title: 'Texts of other senders, and the longest stall of the event loop of their worker', rows },
      { title: `Results of ${outcomes.length} hostile files`, rows: ends },
    ],
    notes: [`A text every ${textEveryMs} ms; the time is from its acceptance to WhatsApp's acknowledgement.`],
    samples: { rows, ends },
  }
}
