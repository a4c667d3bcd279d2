import { document } from '@wagate/test-kit/contract'
import { type MailServer, startMailServer } from '@wagate/test-kit/mail-server'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askAndCheck } from './fuzz-checks.ts'
import { type Gateway, startGateway, startReplica } from './gateway.ts'
import { type GeneratedRequest, requests } from './generated-requests.ts'
import { holdProperty } from './hold-property.ts'
import { type InProcessClient, makeInProcessClient } from './in-process.ts'
import { playWorker } from './player.ts'
import { createKeyHolder, createTenant } from './tenant.ts'

/** FUZZ_SEED=$(date +%s) FUZZ_REQUESTS=1000000 tests longer and with other requests. */
const seed = Number(process.env.FUZZ_SEED ?? 20_260_131)
const requestsTotal = Number(process.env.FUZZ_REQUESTS ?? 20_000)
const accountsAtATime = 8
const requestsOfAccount = 100

let gateway: Gateway
let api: Awaited<ReturnType<typeof startReplica>>
let ask: InProcessClient
let mails: MailServer
let player: Awaited<ReturnType<typeof playWorker>>
beforeAll(async () => {
  mails = await startMailServer()
  const signUp = { SIGN_UP: 'open', SMTP_URL: mails.url, MAIL_FROM: 'gateway@example.com' }
  gateway = await startGateway()
  api = await startReplica(gateway, signUp)
  ask = makeInProcessClient(api)
  player = await playWorker(gateway)
})
afterAll(async () => {
  await player.close()
  await api.close()
  await gateway.close()
  await mails.close()
})

/**
 * A key opens no link and has no session, a link of a mail is known to its recipient, a passkey needs a step of its own, a
 * stream has no end or is no JSON as a whole, a proof needs a deletion, a test of a webhook waits for its target, and a file
 * must have been received, an ADMIN deletes accounts of others, and `/` is a page: see pairing-links, sign-up, sessions,
 * passkey, events-stream, export-account, delete-account, media and pages.test.ts, and system-tests/webhooks.test.ts.
 */
const elsewhere = [
  ...[
    'open-link',
    'passkey-\\w+',
    'confirm-email',
    'reset-password',
    'sign-in',
    'sign-out',
    'end-session',
    'change-\\w+',
  ],
  ...['', 'events/stream', 'export-account', 'delete-user', 'deletion-proof', 'test-webhook', 'media'],
]
const triedElsewhere = new RegExp(` /(${elsewhere.join('|')}) `)

/** Counts by entries like `GET /user-info 200`. */
const answered = new Map<string, number>()

test(
  `${requestsTotal} requests generated from the document get documented responses`,
  async () => {
    const ofAccount = fc.array(requests, { minLength: requestsOfAccount, maxLength: requestsOfAccount })
    const batch = fc.array(ofAccount, { minLength: accountsAtATime, maxLength: accountsAtATime })
    const property = fc.asyncProperty(batch, async (accounts) => {
      await Promise.all(accounts.map(askInTurn))
    })
    const numRuns = Math.ceil(requestsTotal / (accountsAtATime * requestsOfAccount))
    await holdProperty(property, { seed, numRuns })
  },
  Math.max(120_000, requestsTotal * 10),
)

test('and every operation succeeded among them, by every method', () => {
  const ways = Object.entries(document.paths).flatMap(([path, { get, post }]) => [
    ...(get ? [`GET ${path} 200`] : []),
    ...(post ? [`POST ${path} 200`] : []),
  ])
  if (process.env.FUZZ_SHOW) process.stdout.write([...answered].sort().join('\n'))
  // A missing operation needs its own values: see tenant.ts and ownParameters.
  const missing = ways.filter((way) => !answered.has(way) && !triedElsewhere.test(way))
  expect(missing).toEqual([])
})

async function askInTurn(given: GeneratedRequest[]): Promise<void> {
  // Fresh accounts for every list, because some requests log out, delete or revoke.
  const [tenant, admin, expired] = await Promise.all([
    createTenant(gateway, ask),
    createKeyHolder(gateway, { role: 'ADMIN', expiresAt: null }),
    createKeyHolder(gateway, { role: 'USER', expiresAt: new Date(0) }),
  ])
  const values = { ...tenant.values, admin_key: admin.key, expired_key: expired.key }
  for (const request of given) {
    const { status } = await askAndCheck(ask, request, values)
    const kind = `${request.method} ${request.path.replace(/^\/api\//, '/').replace(/\/$/, '')} ${status}`
    answered.set(kind, (answered.get(kind) ?? 0) + 1)
  }
}
