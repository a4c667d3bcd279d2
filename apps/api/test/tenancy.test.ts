import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../src/calls/operation.ts'
import { operations } from '../src/operations.ts'
import { makeComparison } from './answer-comparison.ts'
import { type Gateway, randomPhone, startGateway, startReplica } from './gateway.ts'
import { formOf } from './generated-bodies.ts'
import { fillIn, type GeneratedRequest, requests } from './generated-requests.ts'
import { holdProperty, ownSeed } from './hold-property.ts'
import { type InProcessClient, makeInProcessClient } from './in-process.ts'
import { defaultLimits } from './limits-on.ts'
import { makeSocketClient } from './over-sockets.ts'
import { playWorker } from './player.ts'
import { createTenant, type Tenant } from './tenant.ts'

let gateway: Gateway
let api: Awaited<ReturnType<typeof startReplica>>
let ask: InProcessClient
let limitedApi: Awaited<ReturnType<typeof startReplica>>
let limited: ReturnType<typeof makeSocketClient>
let player: Awaited<ReturnType<typeof playWorker>>
beforeAll(async () => {
  gateway = await startGateway()
  api = await startReplica(gateway)
  ask = makeInProcessClient(api)
  // Invalid keys are counted per address, and all of these come from one.
  limitedApi = await startReplica(gateway, { ...defaultLimits, LIMIT_FAILED_KEYS_PER_MINUTE: '0' })
  limited = makeSocketClient(limitedApi.url)
  // Messages stay queued, because their send times differ between runs.
  player = await playWorker(gateway, { sends: false })
})
afterAll(async () => {
  limited.close()
  await player.close()
  await limitedApi.close()
  await api.close()
  await gateway.close()
})

/** Parameters that identify a resource of an account, with values that identify none. */
const unknownOf: Record<string, () => string> = {
  sender: randomPhone,
  number: randomPhone,
  device_id: () => String(2 ** 31 - 2),
  id: () => String(2 ** 31 - 2),
  message_id: () => makeMessageId('4915100000000'),
  before: () => makeMessageId('4915100000000'),
  idempotency_key: randomUUID,
  media_id: randomUUID,
  user_id: () => String(2 ** 31 - 2),
  key_id: () => String(2 ** 31 - 2),
  webhook_id: () => String(2 ** 31 - 2),
  event_id: () => `evt_${'0'.repeat(40)}`,
}
/** Free text of an account, and what sessions.test.ts tries. */
const namesNothing = ['cms_id', 'session_id']

/** A stream has no end to wait for: see events-stream.test.ts. */
const answering = operations.filter(({ isStream }) => !isStream)

const identified = answering.flatMap((operation) =>
  Object.keys(operation.parameters.shape)
    .filter(
      (parameter) =>
        /(^|_)(id|key|sender|number|before)$/.test(parameter) && !namesNothing.includes(parameter),
    )
    .map((parameter) => ({ operation, parameter, name: operation.name })),
)

describe('resources of another account look exactly like ones that do not exist', () => {
  test.each(identified)('$parameter of $name, by every method', async ({ operation, parameter }) => {
    const unknown = unknownOf[parameter]
    if (!unknown) throw new Error(`Say in tenancy.test.ts what a ${parameter} is that no account has.`)
    const sender = randomPhone()
    const [owner, one, other] = await Promise.all([
      createTenant(gateway, ask),
      createTenant(gateway, ask, { sender }),
      createTenant(gateway, ask, { sender }),
    ])
    const foreign = owner.values[parameter]
    if (foreign === undefined) throw new Error(`Give every tenant a ${parameter} in tenant.ts.`)
    const ofForeign = makeComparison({ ...one.values, [parameter]: foreign })
    const ofUnknown = makeComparison({ ...other.values, [parameter]: unknown() })
    const nobodys = ofUnknown.values[parameter] ?? ''
    for (const way of waysOf(operation)) {
      const seen = ofForeign.simplify(await ask(requestOf(operation, one, parameter, foreign, way)))
      const expected = ofUnknown.simplify(await ask(requestOf(operation, other, parameter, nobodys, way)))
      expect(seen, JSON.stringify(way)).toEqual(expected)
    }
  })
})

type Way = { method: 'GET' | 'POST'; prefix: string; credential: string }

function waysOf({ methods }: Operation): Way[] {
  return methods.flatMap((method) =>
    ['', '/api'].flatMap((prefix) =>
      ['header', 'bearer', 'query', ...(method === 'POST' ? ['body'] : [])].map((credential) => ({
        method,
        prefix,
        credential,
      })),
    ),
  )
}

/** The example of the operation with the tenant's own values and the one under test. */
function requestOf(
  operation: Operation,
  { key, values }: Tenant,
  parameter: string,
  value: string,
  way: Way,
): GeneratedRequest {
  const missing = operation.parameters.safeParse({}).error?.issues.map(({ path }) => String(path[0])) ?? []
  const given = new Map<string, unknown>(
    Object.entries(operation.example.given).filter(([name]) => !(name in unknownOf)),
  )
  for (const name of missing) given.set(name, values[name] ?? operation.example.given[name])
  given.set(parameter, value)
  // Only one of them may be given.
  if (parameter === 'media_id') given.delete('url')
  const { method, prefix, credential } = way
  const headers: Record<string, string> = {
    ...(credential === 'header' && { 'x-api-key': key }),
    ...(credential === 'bearer' && { authorization: `Bearer ${key}` }),
    ...(method === 'POST' && { 'content-type': 'application/json' }),
  }
  const inBody = Object.fromEntries([...given, ...(credential === 'body' ? [['api_key', key] as const] : [])])
  return {
    method,
    path: `${prefix}/${operation.name}`,
    query: [
      ...(method === 'GET' ? given : []),
      ...(credential === 'query' ? [['api_key', key] as [string, string]] : []),
    ],
    headers,
    body: method === 'POST' ? JSON.stringify(inBody) : undefined,
  }
}

test('nothing that one tenant does changes the responses of another', async () => {
  // Messages are never sent here, so waiting would only take time. An event can be read as soon as all earlier
  // transactions of the server have ended, whoever began them, so `events` and `updated_after` may show it a moment later.
  const quick = requests.filter(
    ({ path, query, body }) =>
      !/\b(wait|updated_after)\b/.test(`${formOf(query)} ${body}`) && !/^(\/api)?\/events\/?$/.test(path),
  )
  const scripts = fc.record({
    script: fc.array(quick, { minLength: 8, maxLength: 8 }),
    meanwhile: fc.array(fc.tuple(quick, fc.boolean()), { minLength: 8, maxLength: 8 }),
  })
  await holdProperty(
    fc.asyncProperty(scripts, async ({ script, meanwhile }) => {
      const [sender, number] = [randomPhone(), randomPhone()]
      const [alone, watched, busy] = await Promise.all([
        createTenant(gateway, ask, { sender, number }),
        createTenant(gateway, ask, { sender, number }),
        createTenant(gateway, ask),
      ])
      const [ofAlone, ofWatched] = [makeComparison(alone.values), makeComparison(watched.values)]
      for (const [index, request] of [...script, ...readAll].entries()) {
        const expected = ofAlone.simplify(await limited.ask(fillIn(request, keysOf(alone))))
        const [disturbance, isAimed] = meanwhile[index] ?? []
        // Half of the requests use the sender, devices, messages and idempotency keys of the other tenant.
        const aim = keysOf(isAimed ? { ...watched, key: busy.key } : busy)
        if (disturbance) await limited.ask(fillIn(disturbance, aim))
        const seen = ofWatched.simplify(await limited.ask(fillIn(request, keysOf(watched))))
        expect(seen, JSON.stringify({ request, disturbance }).slice(0, 2000)).toEqual(expected)
      }
    }),
    { numRuns: 30, seed: ownSeed() },
  )
}, 120_000)

/** Runs at the end of every script, to detect side effects that the script does not read. */
const readAll: GeneratedRequest[] = ['/user-info', '/devices', '/messages', '/keys'].map((path) => ({
  method: 'GET',
  path,
  query: [],
  headers: { 'x-api-key': '{{key}}' },
  body: undefined,
}))

function keysOf({ key, values }: Tenant): Record<string, string> {
  return { ...values, key, admin_key: key, expired_key: key }
}
