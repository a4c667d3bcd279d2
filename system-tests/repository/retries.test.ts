import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { expect, test } from 'vitest'

const folders = [
  'apps/api/src',
  'apps/worker/src',
  'packages/db/src',
  'packages/media-store/src',
  'packages/queue/src',
  'packages/runtime/src',
  'packages/shared/src',
]

/** What ends or delays something once, and repeats nothing that has failed. The number of timers in each file. */
const otherTimers: { [file: string]: number } = {
  'apps/api/src/devices/command-dispatcher.ts': 1,
  'apps/api/src/event-streams/event-listener.ts': 1,
  'apps/api/src/events/inbox.ts': 1,
  'apps/api/src/export/export-stream.ts': 2,
  'apps/api/src/http/deadline.ts': 2,
  'apps/api/src/http/read-body.ts': 1,
  'apps/api/src/http/responder.ts': 1,
  'apps/api/src/http/server.ts': 1,
  'apps/api/src/mail/mailer.ts': 1,
  'apps/api/src/messages/outcome-subscriptions.ts': 1,
  'apps/api/src/messages/page-turns.ts': 1,
  'apps/api/src/start.ts': 2,
  'apps/worker/src/upkeep/account-deletions.ts': 1,
  'apps/worker/src/media/inspection/inspection-main.ts': 1,
  'apps/worker/src/media/inspection/inspection-process.ts': 1,
  'apps/worker/src/outbox/in-flight.ts': 1,
  'apps/worker/src/outbox/message-claims.ts': 1,
  'apps/worker/src/session/receiving/ask-for-media.ts': 1,
  'apps/worker/src/session/receiving/offline-queue.ts': 1,
  'apps/worker/src/session/receiving/undecryptable.ts': 1,
  'apps/worker/src/session/linking/pairing-code.ts': 1,
  'apps/worker/src/session/linking/passkey.ts': 2,
  'packages/runtime/src/until-aborted.ts': 1,
  'packages/queue/src/event-hints.ts': 1,
  'packages/queue/src/redis.ts': 2,
  'packages/runtime/src/collect-at-rest.ts': 1,
  'packages/runtime/src/deadline.ts': 1,
  'packages/runtime/src/host-names.ts': 1,
  'packages/runtime/src/natural-batch.ts': 1,
  'packages/runtime/src/within.ts': 1,
}

/** They say how long a pause is, or when there is none, or store its end, and wait nowhere themselves. */
const rulesOnly = new Set([
  'apps/api/src/events/poll-until.ts',
  'apps/worker/src/session/connection/reconnect-policy.ts',
  'apps/worker/src/webhooks/circuit.ts',
  'apps/worker/src/webhooks/retry-schedule.ts',
  'packages/db/src/queries/media/received-media.ts',
  'packages/runtime/src/http-client.ts',
])

const timer =
  /(?<![.\w])(?:setTimeout|setInterval|delay|growingPauseMs|untilAvailable|untilStored|Atomics\.wait|scheduler\.wait)\((?!\):)|\b(?:retryStrategy|runRetryDelay|backoff):/

const sources = new Map(
  folders.flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => [join(folder, path), readFileSync(join(repository, folder, path), 'utf8')] as const),
  ),
)

/** Of a file: the lines that wait, or that decide for how long. */
function timersOf(source: string): string[] {
  const isDefinition = (line: string) => /^\s*(?:import|export (?:async )?function) /.test(line)
  return source.split('\n').filter((line) => timer.test(line) && !isDefinition(line))
}

/** How often the tables name each file. */
function countRows(): Map<string, number> {
  const page = readFileSync(join(repository, 'docs/architecture.md'), 'utf8')
  const section = page.split('\n## ').find((part) => part.startsWith('Retries and polls')) ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  const counts = new Map<string, number>()
  for (const row of rows) {
    const code = row.split(' | ')[1] ?? ''
    for (const [, file = ''] of code.matchAll(/`([^`]+)`/g)) counts.set(file, (counts.get(file) ?? 0) + 1)
  }
  return counts
}

test('every timer belongs to a retry or a poll of docs/architecture.md, or repeats nothing', () => {
  const rows = countRows()
  const found = [...sources].flatMap(([file, source]) => {
    const lines = timersOf(source)
    const known = (rulesOnly.has(file) ? 0 : (rows.get(file) ?? 0)) + (otherTimers[file] ?? 0)
    return lines.length === known ? [] : [{ file, known, lines }]
  })
  expect(found).toEqual([])
})

test('the retries and polls of docs/architecture.md exist', () => {
  const named = [...countRows().keys(), ...Object.keys(otherTimers), ...rulesOnly]
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((file) => !sources.has(file))).toEqual([])
})

test('a pause is called `delay`, so that it is found', () => {
  const renamed = [...sources].filter(([, source]) => /setTimeout as (?!delay\b)/.test(source))
  expect(renamed.map(([file]) => file)).toEqual([])
})
