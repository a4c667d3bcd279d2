import { randomBytes } from 'node:crypto'
import { recordMasterKey } from '@wagate/db/queries/credentials/master-keys'
import { makeBoxKey } from '@wagate/shared/sealed-box'
import { timeAwake } from '@wagate/test-kit/awake-time'
import { type Client, makeClient } from '@wagate/test-kit/http-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Operation } from '../src/calls/operation.ts'
import { operations } from '../src/operations.ts'
import { type CuttableGateway, createSender, ownShards, startCuttableGateway } from './gateway.ts'

let gateway: CuttableGateway
beforeEach(async () => {
  gateway = await startCuttableGateway()
  await ownShards(gateway)
  // For the secrets of webhooks.
  await recordMasterKey(gateway.db, '0badcafe', makeBoxKey(randomBytes(32)).publicKey)
})
afterEach(() => gateway.close())

/**
 * Without sign-up and a session, these refuse before they ask Postgres. An export that fails breaks off: see
 * export-account.test.ts.
 */
const asking = operations.filter(
  ({ name, errors = [] }) =>
    !errors.includes('sign_up_closed') && !['sign-out', 'export-account'].includes(name),
)

const unavailable = { status: 503, body: { code: 'unavailable' } }

/** Someone with an API key, who has also been given a one-time link. */
async function createCaller() {
  const { account, sender } = await createSender(gateway, { role: 'ADMIN' })
  const { body } = await account.post('/create-link', { sender })
  const link = makeClient(gateway.url, new URL(String(body.url)).hash.slice(1))
  return { sender, clientFor: ({ admits = ['key'] }: Operation) => (admits.includes('key') ? account : link) }
}

/** The request of the operation's example, with a sender of the account. */
async function ask(client: Client, { name, methods, example }: Operation, sender: string) {
  const given = { ...example.given, ...('sender' in example.given && { sender }) }
  const { result: answer, awakeMs } = await timeAwake(() =>
    methods.includes('POST')
      ? client.post(`/${name}`, given)
      : client.get(`/${name}`, given as Record<string, string>),
  )
  return { name, answer, awakeMs }
}

describe('every request gets a response within 5 s', () => {
  test.each(['cut', 'freeze'] as const)(
    'returns 503 with Retry-After without Postgres (%s)',
    async (fail) => {
      const { clientFor, sender } = await createCaller()
      gateway.postgres[fail]()
      const answers = await Promise.all(
        asking.map((operation) => ask(clientFor(operation), operation, sender)),
      )
      for (const { name, answer, awakeMs } of answers) {
        expect(answer, name).toMatchObject(unavailable)
        expect(answer.headers.get('retry-after')).toBe('1')
        expect(awakeMs, name).toBeLessThan(5000)
      }
    },
  )

  test('works as usual while Redis is frozen, or returns 503 with Retry-After where Redis is needed', async () => {
    const { clientFor, sender } = await createCaller()
    gateway.redis.freeze()
    // These wait for a code from WhatsApp for up to 15 s.
    const quick = asking.filter(({ name }) => name !== 'generate-qr' && name !== 'pair-code')
    const answers = await Promise.all(quick.map((operation) => ask(clientFor(operation), operation, sender)))
    for (const { name, answer, awakeMs } of answers) {
      if (name === 'check-number') expect(answer).toMatchObject(unavailable)
      else expect(answer.status, name).toBeLessThan(500)
      expect(answer.headers.has('retry-after'), name).toBe(answer.status === 503)
      expect(awakeMs, name).toBeLessThan(5000)
    }
  })
})
