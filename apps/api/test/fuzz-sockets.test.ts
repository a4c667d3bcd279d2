import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askAndCheck } from './fuzz-checks.ts'
import { type Gateway, startGateway, startReplica } from './gateway.ts'
import { requests } from './generated-requests.ts'
import { holdProperty, ownSeed } from './hold-property.ts'
import { defaultLimits } from './limits-on.ts'
import { makeSocketClient } from './over-sockets.ts'
import { playWorker } from './player.ts'
import { createKeyHolder, createTenant } from './tenant.ts'

const accountsAtATime = 4
const requestsOfAccount = 150
const requestsTotal = 1800

let gateway: Gateway
let api: Awaited<ReturnType<typeof startReplica>>
let client: ReturnType<typeof makeSocketClient>
let player: Awaited<ReturnType<typeof playWorker>>
beforeAll(async () => {
  gateway = await startGateway()
  api = await startReplica(gateway, defaultLimits)
  client = makeSocketClient(api.url)
  player = await playWorker(gateway)
})
afterAll(async () => {
  client.close()
  await player.close()
  await api.close()
  await gateway.close()
})

/** Counts by status. */
const answered = new Map<number, number>()

test('requests over sockets get documented responses while rate limits apply', async () => {
  const ofAccount = fc.array(requests, { minLength: requestsOfAccount, maxLength: requestsOfAccount })
  const batch = fc.array(ofAccount, { minLength: accountsAtATime, maxLength: accountsAtATime })
  const property = fc.asyncProperty(batch, async (accounts) => {
    await Promise.all(
      accounts.map(async (given) => {
        const [tenant, admin, expired] = await Promise.all([
          createTenant(gateway, client.ask),
          createKeyHolder(gateway, { role: 'ADMIN', expiresAt: null }),
          createKeyHolder(gateway, { role: 'USER', expiresAt: new Date(0) }),
        ])
        const values = { ...tenant.values, admin_key: admin.key, expired_key: expired.key }
        for (const request of given) {
          const { status } = await askAndCheck(client.ask, request, values)
          answered.set(status, (answered.get(status) ?? 0) + 1)
        }
      }),
    )
  })
  const numRuns = Math.ceil(requestsTotal / (accountsAtATime * requestsOfAccount))
  await holdProperty(property, { seed: ownSeed(), numRuns })
  for (const status of [200, 400, 401, 404, 429])
    expect(answered.get(status), String(status)).toBeGreaterThan(0)
}, 240_000)
