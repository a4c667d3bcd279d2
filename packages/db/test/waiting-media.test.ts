import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { createDevice } from '../src/queries/devices/devices.ts'
import { deleteMediaParts, storeMediaPart } from '../src/queries/media/waiting-media.ts'
import { type Acceptance, acceptMessages, type NewMessage } from '../src/queries/messages/accept-messages.ts'
import { openAccountDatabase } from './account-database.ts'

const sender = '491510000001'
let db: Database
let drop: () => Promise<void>
let accountId: number

beforeAll(async () => {
  ;({ db, accountId, drop } = await openAccountDatabase())
  await createDevice(db, accountId, { sender, name: 'x', cmsId: null, cmsVer: null })
  await db.$client`UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = 1`
})
afterAll(() => drop())

async function upload(parts: Record<number, string>, ofAccount = accountId): Promise<string> {
  const uploadId = randomUUID()
  for (const [position, text] of Object.entries(parts)) {
    const bytes = Buffer.from(text)
    await storeMediaPart(db, { accountId: ofAccount, uploadId, position: Number(position), bytes })
  }
  return uploadId
}

async function accept(
  media: { uploadId: string; bytes: number },
  more: Partial<NewMessage> = {},
): Promise<{ id: string; outcome: Acceptance['outcome'] | undefined; stored: string | undefined }> {
  const id = makeMessageId(sender)
  const message: NewMessage = {
    id,
    waId: randomUUID(),
    accountId,
    sender,
    number: '2',
    type: 'document',
    body: null,
    url: 'data:text/plain',
    filename: null,
    sendAt: null,
    media: { mime: 'text/plain', ...media },
    idempotency: null,
    ...more,
  }
  const [acceptance] = await acceptMessages(db, [message], { mediaBytesMax: 100 })
  const [blob] = await db.$client<{ bytes: Buffer }[]>`SELECT bytes FROM media_blobs WHERE message_id = ${id}`
  return { id, outcome: acceptance?.outcome, stored: blob?.bytes.toString() }
}

test('media is joined in the order of its parts', async () => {
  const uploadId = await upload({ 2: 'c', 0: 'z', 10: 'd', 1: 'b' })
  expect(await accept({ uploadId, bytes: 4 })).toMatchObject({ outcome: 'accepted', stored: 'zbcd' })
})

test('media with a missing part is not accepted, and its idempotency key stays unused', async () => {
  const idempotency = { operation: 'send-media', key: 'k', payloadHash: '' }
  const uploadId = await upload({ 1: 'b' })
  const nothing = { stored: undefined, outcome: 'media_lost' }
  expect(await accept({ uploadId, bytes: 2 }, { idempotency })).toMatchObject(nothing)
  expect(await accept({ uploadId: randomUUID(), bytes: 2 }, { idempotency })).toMatchObject(nothing)
  const whole = { uploadId: await upload({ 0: 'a', 1: 'b' }), bytes: 2 }
  expect(await accept(whole, { idempotency })).toMatchObject({ outcome: 'accepted', stored: 'ab' })
})

test('parts of another account are not used', async () => {
  const uploadId = await upload({ 0: 'secret' }, accountId + 1)
  expect(await accept({ uploadId, bytes: 6 })).toMatchObject({ outcome: 'media_lost', stored: undefined })
  await deleteMediaParts(db, { accountId, uploadId })
  expect(await db.$client`SELECT 1 FROM media_parts WHERE upload_id = ${uploadId}`).toHaveLength(1)
})

test('leftover parts are not used', async () => {
  await upload({ 0: 'left' })
  const uploadId = await upload({ 0: 'mine' })
  expect(await accept({ uploadId, bytes: 4 })).toMatchObject({ outcome: 'accepted', stored: 'mine' })
  await deleteMediaParts(db, { accountId, uploadId })
  expect(await db.$client`SELECT 1 FROM media_parts WHERE upload_id = ${uploadId}`).toHaveLength(0)
})
