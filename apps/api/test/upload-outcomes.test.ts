import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { timeAwake } from '@wagate/test-kit/awake-time'
import { makeNoisePng } from '@wagate/test-kit/media/media-samples'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'

const picture = makeNoisePng(100)
const unanswered: ServerResponse[] = []
const removed: string[] = []
let isSilent = false

/** A bucket that takes everything, or says nothing. */
const bucket = createServer((request, response) => {
  if (request.method === 'DELETE') removed.push(request.url ?? '')
  request.resume().on('end', () => (isSilent ? void unanswered.push(response) : response.end()))
})

let gateway: Gateway
beforeAll(async () => {
  bucket.listen(0, '127.0.0.1')
  await once(bucket, 'listening')
  gateway = await startGateway({
    MEDIA_STORE: 's3',
    S3_ENDPOINT: `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
    S3_BUCKET: 'media',
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'secret',
    S3_FORCE_PATH_STYLE: 'true',
    UPLOADED_MEDIA_ACCOUNT_FILES_MAX: '1',
  })
})
afterAll(async () => {
  await gateway.close()
  bucket.close()
  bucket.closeAllConnections()
})

type Account = Awaited<ReturnType<Gateway['createAccount']>>

const upload = (account: Account) =>
  account.request('/upload-media', { method: 'POST', body: new Uint8Array(picture) })

const uploadsOf = ({ userId }: Account) => gateway.db.$client`
  SELECT stored_at IS NOT NULL AS is_stored, expires_at <= now() AS has_expired FROM uploaded_media
  WHERE account_id = ${userId}`

const givenUp = { is_stored: false, has_expired: true }

test('a store that does not answer leaves the file to housekeeping, because it may still arrive', async () => {
  const account = await gateway.createAccount()
  isSilent = true
  const { result, awakeMs } = await timeAwake(() => upload(account))
  isSilent = false
  expect(result).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  // A store that is silent is given up after 30 s itself.
  expect(awakeMs).toBeLessThan(25_000)
  expect(await uploadsOf(account)).toEqual([givenUp])
  expect(removed).toEqual([])
  for (const response of unanswered) response.end()
  // It does not count: this is the only one that the account may have.
  expect((await upload(account)).status).toBe(200)
}, 40_000)

test('a file does not count when its caller was told too early that it is not stored', async () => {
  const account = await gateway.createAccount()
  const { $client: sql } = gateway.db
  // Each statement is in time, both together are not.
  await sql.unsafe(`
    CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2.5); RETURN NEW; END';
    CREATE TRIGGER slow_insert BEFORE INSERT ON uploaded_media FOR EACH ROW
      WHEN (NEW.account_id = ${account.userId}) EXECUTE FUNCTION delay();
    CREATE TRIGGER slow_update BEFORE UPDATE ON uploaded_media FOR EACH ROW
      WHEN (NEW.account_id = ${account.userId} AND NEW.stored_at IS NOT NULL) EXECUTE FUNCTION delay();`)
  expect((await upload(account)).status).toBe(503)
  await sql.unsafe('DROP TRIGGER slow_insert ON uploaded_media; DROP TRIGGER slow_update ON uploaded_media')
  await expect.poll(() => uploadsOf(account), { timeout: 5000 }).toEqual([givenUp])
  expect((await upload(account)).status).toBe(200)
}, 20_000)
