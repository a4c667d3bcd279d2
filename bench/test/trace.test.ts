import { createTestDatabase, testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { expect, test } from 'vitest'
import { formatTrace, totalsOf } from '../src/trace/format-trace.ts'
import { traceWay } from '../src/trace/trace-way.ts'

test('a trace shows the files of a text from the request to the receipt, in order', {
  timeout: 120_000,
}, async () => {
  const database = await createTestDatabase()
  const trace = await traceWay('send-message', {
    databaseUrl: database.url,
    redisUrl: await testRedisUrl(),
  }).finally(() => database.drop())

  const places = [
    'api apps/api/src/app.ts',
    'api apps/api/src/operations/send-message.ts',
    'api packages/db/src/queries/messages/accept-messages.ts',
    'worker-1 packages/queue/src/command-queue.ts',
    'worker-1 packages/db/src/queries/messages/waiting-messages.ts',
    'worker-1 apps/worker/src/session/credentials/signal-section.ts',
    'worker-1 packages/db/src/queries/messages/message-outcomes.ts',
    'api apps/api/src/http/http-answer.ts',
  ]
  const files = trace.files.map(({ process, file }) => `${process} ${file}`)
  expect(files.filter((file) => places.includes(file))).toEqual(places)
  // What ran is seen again. One can be missing that does not run each time.
  expect(trace.unseen.length).toBeLessThan(10)

  const [api, worker, together] = totalsOf(trace.files)
  expect(api?.files).toBeGreaterThan(20)
  expect(worker?.files).toBeGreaterThan(30)
  expect(together?.files).toBeLessThan((api?.files ?? 0) + (worker?.files ?? 0))
  expect(together?.functions).toBeGreaterThan(200)
  expect(together?.functions).toBeLessThan(800)
  expect(formatTrace(trace)).toMatch(/ api +apps\/api\/src\/operations\/send-message\.ts +\d+ {2}.*handle$/m)
})
