import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Certificate, makeCertificate } from '@wagate/test-kit/make-certificate'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { closeDatabase, openDatabase } from '../src/client.ts'
import { databaseFailure } from '../src/failures.ts'
import { type Ending, endings, type Stage, stages, startFailingServer } from './failing-server.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let certificate: Certificate
const folder = mkdtempSync(join(tmpdir(), 'wagate handshake '))
beforeAll(async () => {
  database = await createTestDatabase()
  certificate = makeCertificate('server', folder)
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

/** Once they are well, all pools connect at the same time. */
const poolSize = 2
const failingMs = 3000
/** Of a connection, until its pause is at its longest, and the shortest one after that. */
const [attemptsMax, pauseMinMs] = [5, 500]

/** While the server fails, callers ask again as soon as they have an answer. Then it is well. */
async function ask(stage: Stage, ending: Ending) {
  const server = await startFailingServer(database.url, { stage, ending, certificate })
  const db = openDatabase(server.url, {
    poolSize,
    applicationName: 'test',
    statementTimeoutMs: 1000,
    silenceMs: 1000,
  })
  const failures: unknown[] = []
  let isWell = false
  const startedMs = performance.now()
  const callers = Array.from({ length: 2 * poolSize }, async () => {
    for (;;) {
      const answer = await db.$client`SELECT 1`.catch((error: unknown) => void failures.push(error))
      if (answer && isWell) return
    }
  })
  await delay(failingMs)
  const pauses = (performance.now() - startedMs) / pauseMinMs
  const result = {
    isSpared: server.connections() <= poolSize * (attemptsMax + pauses),
    hasSettled: failures.length >= poolSize,
    isRecognised: failures.every((failure) => databaseFailure(failure) === 'unavailable'),
  }
  isWell = true
  server.heal()
  await Promise.all(callers)
  await closeDatabase(db)
  await server.close()
  return result
}

describe.concurrent('a server that fails', () => {
  test.each(endings)(
    'in each stage of the handshake (%s) is asked again after a growing pause',
    async (ending) => {
      const results = await Promise.all(
        stages.map(async (stage) => [stage, await ask(stage, ending)] as const),
      )
      const expected = { isSpared: true, hasSettled: true, isRecognised: true }
      expect(Object.fromEntries(results)).toEqual(
        Object.fromEntries(stages.map((stage) => [stage, expected])),
      )
    },
  )
})
