import { randomUUID } from 'node:crypto'
import { getMediaLinkKey } from '@wagate/db/queries/statements/installation'
import { makeMediaLinker } from '@wagate/shared/media-links'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  // Too slow to refill noticeably.
  gateway = await startGateway({
    LIMIT_REQUESTS_PER_SECOND: '1',
    LIMIT_REQUESTS_BURST: '100',
    LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '1',
    LIMIT_ACCOUNT_REQUESTS_BURST: '100',
  })
})
afterAll(() => gateway.close())

type Account = Awaited<ReturnType<Gateway['createAccount']>>

/** To files that the gateway does not have. */
async function linkOf({ userId }: Account): Promise<string> {
  const linker = makeMediaLinker(await getMediaLinkKey(gateway.db), gateway.url)
  return linker({ accountId: userId, messageId: randomUUID() })
}

/** How often each limit refused, and `none` let a request pass. */
async function countLimits(urls: string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const answers = await Promise.all(urls.map(async (url) => (await fetch(url)).json()))
  for (const { limit = 'none' } of answers as { limit?: string }[]) counts[limit] = (counts[limit] ?? 0) + 1
  return counts
}

const repeat = (url: string, times: number) => Array<string>(times).fill(url)

/** The tokens that are left for the first key of the account, after this request. */
async function leftOf(account: Account): Promise<number> {
  const { headers } = await account.get('/user-info')
  return Number(/"default";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
}

test('a link to a file has its own limit, and leaves those of the account and of other links alone', async () => {
  const account = await gateway.createAccount()
  const counts = await countLimits(repeat(await linkOf(account), 90))
  expect(counts.none).toBeGreaterThanOrEqual(60)
  expect(counts['media-link']).toBeGreaterThan(0)
  expect((await fetch(await linkOf(account))).status).toBe(404)
  expect(await leftOf(account)).toBeGreaterThanOrEqual(99)
})

test('all links and tokens of an account have a limit, apart from that of its keys', async () => {
  const account = await gateway.createAccount()
  const links = await Promise.all([1, 2, 3].map(() => linkOf(account)))
  const counts = await countLimits(links.flatMap((link) => repeat(link, 50)))
  expect(counts.none).toBeGreaterThanOrEqual(100)
  expect(counts['account-links']).toBeGreaterThan(0)
  expect(await leftOf(account)).toBeGreaterThanOrEqual(99)
})

test('a stream token has its own limit, and leaves that of the key which created it alone', async () => {
  const account = await gateway.createAccount()
  const { body } = await account.post('/create-stream-token')
  // Refused after it was charged, so that no stream stays open.
  const counts = await countLimits(repeat(`${gateway.url}/events/stream?token=${body.token}&types=none`, 90))
  expect(counts.none).toBeGreaterThanOrEqual(60)
  expect(counts['stream-token']).toBeGreaterThan(0)
  expect(await leftOf(account)).toBeGreaterThanOrEqual(98)
})
