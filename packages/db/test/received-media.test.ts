import { randomBytes, randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  deleteOldMediaRows,
  expireContent,
  findMedia,
  listExpiredContents,
} from '../src/queries/media/media-content.ts'
import {
  countMediaBytes,
  listDueMedia,
  postponeMedia,
  setMediaStored,
  setMediaUnavailable,
} from '../src/queries/media/received-media.ts'
import { recordMessageChanges } from '../src/queries/messages/message-changes.ts'
import { findMessage } from '../src/queries/messages/message-history.ts'
import { insertReceivedMessages } from '../src/queries/messages/received-messages.ts'
import { type Fence, OwnershipLost } from '../src/queries/statements/fence.ts'
import { listMessageEvents } from './message-events.ts'
import { type OwnedDevice, openOwnedDevices } from './owned-devices.ts'

let owned: Awaited<ReturnType<typeof openOwnedDevices>>
let device: OwnedDevice
const sender = '4915100000000'

beforeAll(async () => {
  owned = await openOwnedDevices()
  device = await owned.addDevice(sender)
})
afterAll(() => owned.drop())

const randomHash = () => randomBytes(32).toString('hex')

/** A received message whose file is not downloaded yet. */
async function receive(sha256 = randomHash()) {
  const { accountId } = owned
  const message = {
    ...device,
    id: makeMessageId(sender),
    accountId,
    sender,
    number: '4915187654321',
    type: 'image' as const,
    body: null,
    waId: randomUUID(),
    linkGeneration: 1,
    media: {
      state: 'pending' as const,
      declaredMime: 'image/jpeg',
      filename: 'a.jpg',
      size: 100,
      sha256: Buffer.from(sha256, 'hex'),
      sealed: Buffer.from('sealed'),
    },
  }
  const again = { ...message, id: makeMessageId(sender) }
  await insertReceivedMessages(owned.db, [message])
  await insertReceivedMessages(owned.db, [again])
  return { messageId: message.id, again: again.id, accountId, sha256, waId: message.waId }
}

type Media = Awaited<ReturnType<typeof receive>>
type Limits = { fence?: Fence; bytesMax?: number }

const inStore = { has: async () => true, remove: async () => undefined }
const store = (media: Media, more: Partial<typeof inStore> = {}, { fence, bytesMax }: Limits = {}) =>
  setMediaStored(
    owned.db,
    fence ?? device.fence,
    { ...media, mime: 'image/png', size: 100 },
    bytesMax ?? Number.MAX_SAFE_INTEGER,
    { ...inStore, ...more },
  )

async function listDue(except: string[] = []) {
  const { shard } = device.fence
  return listDueMedia(owned.db, { shards: [shard], except, max: 100, maxOfAccount: 100 })
}

const age = (messageId: string, days: number) => owned.db.$client`
  UPDATE received_media SET created_at = now() - ${days}::int * interval '1 day' WHERE message_id = ${messageId}`

test('a message and its file are stored together, once', async () => {
  const media = await receive()
  const found = await findMedia(owned.db, owned.accountId, media.messageId)
  expect(found).toMatchObject({ state: 'pending', mime: null, sha256: media.sha256 })
  expect(await findMedia(owned.db, owned.accountId, media.again)).toBeUndefined()
  expect(await findMedia(owned.db, owned.accountId + 1, media.messageId)).toBeUndefined()
})

test('a file is due until it is stored, with one event', async () => {
  const media = await receive()
  expect(await listDue()).toContainEqual(expect.objectContaining({ messageId: media.messageId, attempts: 0 }))
  expect(await listDue([media.messageId])).not.toContainEqual(
    expect.objectContaining({ messageId: media.messageId }),
  )
  expect(await store(media)).toBe('stored')
  await store(media)
  await setMediaUnavailable(owned.db, device.fence, media, 'quota')
  expect(await listDue()).not.toContainEqual(expect.objectContaining({ messageId: media.messageId }))
  expect(await listMessageEvents(owned.db, media.messageId)).toEqual(['message.received', 'media.stored'])
  expect(await countMediaBytes(owned.db, owned.accountId)).toBe(100)
})

test('an owner that has lost the shard changes nothing', async () => {
  const media = await receive()
  const former = { ...device.fence, epoch: device.fence.epoch - 1 }
  await expect(store(media, {}, { fence: former })).rejects.toThrow(OwnershipLost)
  await expect(setMediaUnavailable(owned.db, former, media, 'quota')).rejects.toThrow(OwnershipLost)
  await expect(postponeMedia(owned.db, former, { ...media, attempts: 0 }, 60_000)).rejects.toThrow(
    OwnershipLost,
  )
  expect(await listDue()).toContainEqual(expect.objectContaining({ messageId: media.messageId, attempts: 0 }))
  expect(await listMessageEvents(owned.db, media.messageId)).toEqual(['message.received'])
})

test('a failed attempt is counted, and the next one waits', async () => {
  const media = await receive()
  await postponeMedia(owned.db, device.fence, { ...media, attempts: 0 }, 60_000)
  expect(await listDue()).not.toContainEqual(expect.objectContaining({ messageId: media.messageId }))
  await postponeMedia(owned.db, device.fence, { ...media, attempts: 1 }, 0)
  expect(await listDue()).toContainEqual(expect.objectContaining({ messageId: media.messageId, attempts: 2 }))
})

test('a file that was removed meanwhile is not recorded as stored', async () => {
  const media = await receive()
  expect(await store(media, { has: async () => false })).toBe('gone')
  expect(await findMedia(owned.db, owned.accountId, media.messageId)).toMatchObject({ state: 'pending' })
})

test('a file that messages share is removed with the last of them', async () => {
  const sha256 = randomHash()
  const [first, second] = [await receive(sha256), await receive(sha256)]
  await store(first)
  await age(first.messageId, 31)
  const content = { accountId: owned.accountId, sha256 }
  let removed = 0
  const remove = async () => {
    removed += 1
  }
  expect(await listExpiredContents(owned.db, { retentionDays: 30, max: 10 })).toContainEqual(content)
  // The second one is pending: it may be about to find the file in the store.
  await expireContent(owned.db, content, 30, remove)
  expect(removed).toBe(0)
  expect(await findMedia(owned.db, owned.accountId, first.messageId)).toMatchObject({
    state: 'unavailable',
    reason: 'expired',
  })
  await age(second.messageId, 31)
  await expireContent(owned.db, content, 30, remove)
  expect(removed).toBe(1)
  expect(await listExpiredContents(owned.db, { retentionDays: 30, max: 10 })).not.toContainEqual(content)
})

test('a message whose file could not be removed expires again', async () => {
  const media = await receive()
  await store(media)
  await age(media.messageId, 31)
  const content = { accountId: owned.accountId, sha256: media.sha256 }
  const fail = async () => {
    throw new Error('The store is away')
  }
  await expect(expireContent(owned.db, content, 30, fail)).rejects.toThrow('The store is away')
  expect(await listExpiredContents(owned.db, { retentionDays: 30, max: 10 })).toContainEqual(content)
})

test('a file is not recorded as stored while it is being removed', async () => {
  const sha256 = randomHash()
  const old = await receive(sha256)
  await store(old)
  await age(old.messageId, 31)
  let isPresent = true
  let storing: Promise<string> | undefined
  const content = { accountId: owned.accountId, sha256 }
  await expireContent(owned.db, content, 30, async () => {
    // A message with the same file arrives now, and its owner has found the file in the store.
    storing = store(await receive(sha256), { has: async () => isPresent })
    await untilLocked()
    isPresent = false
  })
  expect(await storing).toBe('gone')
})

test('files that are stored at the same time do not exceed the quota of their account together', async () => {
  const files = await Promise.all([receive(), receive(), receive(), receive()])
  const bytesMax = (await countMediaBytes(owned.db, owned.accountId)) + 250
  const removed: string[] = []
  let arrived = 0
  const results = await Promise.all(
    files.map((media) => {
      const has = async () => {
        arrived += 1
        await expect.poll(() => arrived).toBe(files.length)
        return true
      }
      const remove = async () => void removed.push(media.messageId)
      return store(media, { has, remove }, { bytesMax })
    }),
  )
  expect(results.toSorted()).toEqual(['quota', 'quota', 'stored', 'stored'])
  const refused = files.filter((_, index) => results[index] === 'quota').map(({ messageId }) => messageId)
  expect(removed.toSorted()).toEqual(refused.toSorted())
  for (const messageId of refused)
    expect(await listMessageEvents(owned.db, messageId)).toEqual(['message.received'])
})

test('a file for which there is no room stays in the store if it is stored for a message', async () => {
  const sha256 = randomHash()
  const [first, second] = [await receive(sha256), await receive(sha256)]
  await store(first)
  const bytesMax = await countMediaBytes(owned.db, owned.accountId)
  const remove = async () => expect.unreachable()
  // The first one again: its former owner has not noticed that another one has stored it.
  for (const media of [first, second]) expect(await store(media, { remove }, { bytesMax })).toBe('quota')
})

async function untilLocked(): Promise<void> {
  const isWaiting = async () => {
    const [row] = await owned.db.$client`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
    return row !== undefined
  }
  await expect.poll(isWaiting).toBe(true)
}

test('what is known of a file is deleted with its message, but not before the file is removed', async () => {
  const [given, kept] = [await receive(), await receive()]
  await setMediaUnavailable(owned.db, device.fence, given, 'download_failed')
  for (const { messageId } of [given, kept]) await age(messageId, 400)
  expect(await deleteOldMediaRows(owned.db, { retentionDays: 365, max: 10 })).toBe(1)
  expect(await findMedia(owned.db, owned.accountId, given.messageId)).toBeUndefined()
  expect(await findMedia(owned.db, owned.accountId, kept.messageId)).toBeDefined()
})

test('the file of a message that its contact deletes is not given out, and expires', async () => {
  const { messageId, accountId, sha256, waId } = await receive()
  const deletion = { waId: randomUUID(), target: waId, number: '4915187654321', fromMe: false, text: null }
  await recordMessageChanges(owned.db, [{ ...device, ...deletion, accountId, sender, kind: 'deleted' }])
  expect(await findMedia(owned.db, accountId, messageId)).toBeUndefined()
  expect(await findMessage(owned.db, accountId, messageId)).toMatchObject({ media: null })
  expect(await listExpiredContents(owned.db, { retentionDays: 30, max: 10 })).toContainEqual({
    accountId,
    sha256,
  })
})
