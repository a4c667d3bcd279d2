import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inLanes } from '@wagate/test-kit/load/in-lanes'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { recipientOf, senderNumbers } from '@wagate/test-kit/load/numbers'
import { makeNoisePng } from '@wagate/test-kit/media/media-samples'
import { median, quantile, significant } from '@wagate/test-kit/statistics'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import { until } from '@wagate/test-kit/until'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { buildApps } from './build-apps.ts'
import { type Group, startProcessMeter } from './process-meter.ts'
import type { Row } from './table.ts'
import { withoutDecryption } from './without-decryption.ts'

const sizes = {
  full: { files: 200, rounds: 3, senders: 20 },
  short: { files: 60, rounds: 1, senders: 4 },
}
const clients = 16
/** A PNG of 1.07 MB. */
const pictureSide = 597

type Way = { name: string; isYardstick?: true; prepare(system: System): Promise<() => Fields> }
type Fields = Record<string, string>
type Round = Record<'files' | 'refused' | 'stored' | 'ms', number> & {
  way: string
  requestsMs: number[]
  cpuMs: Record<Group, number>
  rssMb: Record<Group, number>
}

/** Images of 1.07 MB from 16 clients of one account: what a file costs by the way in which it comes. */
export async function measureFiles({ short, data, signal }: BenchmarkOptions): Promise<Report> {
  const size = short ? sizes.short : sizes.full
  const picture = makeNoisePng(pictureSide)
  const server = await servePicture(picture)
  const environment = withoutDecryption(() => ({ ALLOW_PRIVATE_MEDIA_HOSTS: 'true' }))
  const options = { workers: 1, environment, signal, ...keptIn(data), ...(await buildApps()) }
  try {
    return await withSystem(options, async (system) => {
      const senders = senderNumbers(size.senders)
      await linkSenders(system, senders)
      const rounds: Round[] = []
      const ways = waysOf(picture, server)
      for (let round = 0; round <= size.rounds; round++) {
        for (const way of ways) {
          signal.throwIfAborted()
          const measured = await measure(system, senders, way, round === 0 ? clients * 2 : size.files)
          // The first round warms up.
          if (round > 0) rounds.push(measured)
        }
      }
      return makeReport(rounds, ways)
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

function waysOf(picture: Buffer, server: Server): Way[] {
  const { port } = server.address() as AddressInfo
  const inline = `data:image/png;base64,${picture.toString('base64')}`
  let asked = 0
  return [
    {
      name: 'by URL',
      isYardstick: true,
      prepare: async () => () => ({ url: `http://127.0.0.1:${port}/${asked++}.png` }),
    },
    { name: 'data: URL', prepare: async () => () => ({ url: inline }) },
  ]
}

async function servePicture(picture: Buffer): Promise<Server> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': picture.length })
    response.end(picture)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function measure(system: System, senders: string[], way: Way, files: number): Promise<Round> {
  const { devnet, gateway, records } = system
  const fieldsOf = await way.prepare(system)
  const requestsMs: number[] = []
  let refused = 0
  const meter = startProcessMeter(devnet)
  const startedAtMs = Date.now()
  const startedMs = performance.now()
  await inLanes(
    Array.from({ length: files }, (_, index) => index),
    clients,
    async (index) => {
      const sender = senders[index % senders.length] ?? ''
      const number = recipientOf(sender, Math.floor(index / senders.length))
      const askedMs = performance.now()
      const { status, text } = await gateway.call('send-media', {
        sender,
        number,
        type: 'image',
        ...fieldsOf(),
      })
      requestsMs.push(performance.now() - askedMs)
      if (status !== 200 && status !== 503) throw new Error(`Refused with ${status}: ${text}`)
      if (status === 503) refused += 1
    },
  )
  await until('all files are sent', { withinMs: 600_000, everyMs: 50 }, async () => {
    return (await records.countWaiting()) === 0
  })
  const ms = performance.now() - startedMs
  const usages = Object.entries(meter.stop())
  const found = await records.listMessagesSince(startedAtMs)
  const failed = found.find(({ status }) => status === 'failed')
  if (failed) throw new Error(`A message has failed: ${failed.errorCode}`)
  return {
    way: way.name,
    files,
    refused,
    stored: found.length,
    ms,
    requestsMs,
    cpuMs: Object.fromEntries(usages.map(([group, { cpuMs }]) => [group, cpuMs])) as Round['cpuMs'],
    rssMb: Object.fromEntries(usages.map(([group, { rssMb }]) => [group, rssMb.peak])) as Round['rssMb'],
  }
}

function makeReport(rounds: Round[], ways: Way[]): Report {
  const of = (way: string, figure: (round: Round) => number) =>
    median(rounds.filter((round) => round.way === way).map(figure))
  const cpu = (round: Round, ...groups: Group[]) =>
    groups.reduce((total, group) => total + round.cpuMs[group], 0) / round.stored
  const perSecond = (round: Round) => (round.stored / round.ms) * 1000
  const all = (round: Round) => cpu(round, 'workers', 'api', 'postgres', 'redis')
  const yardstick = ways.find(({ isYardstick }) => isYardstick)?.name ?? ''
  const rows = ways.map(({ name }): Row => {
    const total = (figure: 'refused' | 'stored' | 'files') =>
      rounds.filter(({ way }) => way === name).reduce((sum, round) => sum + round[figure], 0)
    const figures = {
      'files/s': of(name, perSecond),
      'of the yardstick': of(name, perSecond) / of(yardstick, perSecond),
      'p50 ms': of(name, ({ requestsMs }) => quantile(requestsMs, 0.5)),
      'p99 ms': of(name, ({ requestsMs }) => quantile(requestsMs, 0.99)),
      worker: of(name, (round) => cpu(round, 'workers')),
      api: of(name, (round) => cpu(round, 'api')),
      postgres: of(name, (round) => cpu(round, 'postgres')),
      all: of(name, all),
      'all against the yardstick': of(name, all) / of(yardstick, all),
      'api MB': of(name, ({ rssMb }) => rssMb.api),
    }
    const rounded = Object.entries(figures).map(([column, value]) => [column, significant(value)])
    const counts = {
      refused: total('refused'),
      'stored though refused': total('stored') + total('refused') - total('files'),
    }
    return { way: name, ...Object.fromEntries(rounded), ...counts }
  })
  return {
    tables: [{ title: `${clients} clients of one account, images of 1.07 MB; CPU in ms a file`, rows }],
    notes: [`${yardstick} is the yardstick. Until all files are sent; the simulator does not decrypt.`],
    samples: rounds,
  }
}
