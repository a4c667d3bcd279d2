import { operations } from '@wagate/api/operations'
import type { BenchmarkOptions, Report } from './benchmark.ts'

const characters = 60_000
const shownMax = 15
const rounds = { full: 5, short: 1 }

/** What a caller can put into one parameter of a body of 64 kB, to make the API work. */
const hostile: Record<string, unknown> = {
  commas: ','.repeat(characters),
  semicolons: ';'.repeat(characters),
  colons: ':'.repeat(characters),
  spaces: ' '.repeat(characters),
  'line breaks': '\n'.repeat(characters),
  dashes: '-'.repeat(characters),
  dots: '.'.repeat(characters),
  slashes: '/'.repeat(characters),
  brackets: '('.repeat(characters),
  plus: '+'.repeat(characters),
  percent: `https://a/${'%'.repeat(characters)}`,
  labels: `https://${'a.'.repeat(characters / 2)}`,
  digits: '1'.repeat(characters),
  numbers: '1,'.repeat(characters / 2),
  names: 'message.sent,'.repeat(characters / 13),
  combining: `e${'\u0301'.repeat(characters / 2)}`,
  surrogates: '\u{1f600}'.repeat(characters / 4),
  'lone surrogates': '\ud83d'.repeat(characters / 3),
  'data URL': `data:image/png;base64,${','.repeat(characters)}`,
  'attributes of a data URL': `data:${';'.repeat(characters)}`,
  'list of numbers': Array.from({ length: characters / 2 }, () => 1),
  'list of texts': Array.from({ length: characters / 3 }, () => ''),
  'nested lists': JSON.parse('['.repeat(60) + ']'.repeat(60)),
  members: Object.fromEntries(Array.from({ length: characters / 10 }, (_, index) => [`k${index}`, 1])),
}

type Parameter = { safeParse(value: unknown): unknown }
type Sample = { operation: string; parameter: string; value: string; ms: number }

/** How long the event loop of the API is blocked by one hostile value, for every parameter of every operation. */
export async function measureParameters({ short, signal }: BenchmarkOptions): Promise<Report> {
  const samples: Sample[] = []
  for (const { name: operation, parameters } of operations) {
    signal.throwIfAborted()
    for (const [parameter, type] of Object.entries(
      parameters.shape as unknown as Record<string, Parameter>,
    )) {
      for (const [value, given] of Object.entries(hostile)) {
        samples.push({
          operation,
          parameter,
          value,
          ms: measure(type, given, rounds[short ? 'short' : 'full']),
        })
      }
    }
  }
  const slowest = samples.toSorted((a, b) => b.ms - a.ms).slice(0, shownMax)
  return {
    tables: [{ title: `The slowest of ${samples.length} values`, rows: slowest }],
    notes: [
      `Each of up to ${characters} characters. The shortest time of each: the first runs are not compiled yet.`,
    ],
    samples,
  }
}

function measure(type: Parameter, given: unknown, times: number): number {
  let bestMs = Number.POSITIVE_INFINITY
  for (let round = 0; round <= times; round++) {
    const startedAt = performance.now()
    type.safeParse(given)
    bestMs = Math.min(bestMs, performance.now() - startedAt)
  }
  return Math.round(bestMs * 10) / 10
}
