import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { shortLease } from '@wagate/test-kit/short-lease'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

type Media = {
  state: string
  mime: string | null
  declared_mime?: string
  size: number | null
  reason?: string
  url?: string
}
type ReceivedRecord = Record<string, unknown> & { message_id: string; media: Media | null }
type Event = { type: string; data: { message_id: string; message: ReceivedRecord } }

const sender = '15552200001'
const minute = { withinMs: 60_000, everyMs: 100 }
const imageBytesMax = 200_000
const accountBytesMax = 2 ** 20
const photo = mediaSamples.find(({ type }) => type === 'image')?.bytes ?? Buffer.alloc(0)

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({
    environment: {
      MEDIA_IMAGE_BYTES_MAX: String(imageBytesMax),
      RECEIVED_MEDIA_ACCOUNT_BYTES_MAX: String(accountBytesMax),
      ...shortLease,
    },
  })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

vi.setConfig({ testTimeout: 90_000 })

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** A contact sends a file to the sender. Its record, once the gateway has stored the message. */
async function receive(from: string, file: Buffer, mime: string, text = 'x'): Promise<ReceivedRecord> {
  const { wa_message_id } = await gateway.control<{ wa_message_id: string }>(`/chats/${from}/send`, {
    to: sender,
    text,
    file: file.toString('base64'),
    mime,
  })
  return until('the message is stored', minute, async () => find(wa_message_id))
}

async function find(waId: unknown): Promise<ReceivedRecord | undefined> {
  const messages = (await gateway.history()) as unknown as ReceivedRecord[]
  return messages.find(({ wa_message_id }) => wa_message_id === waId)
}

function untilMedia({ message_id }: ReceivedRecord, state: string): Promise<ReceivedRecord> {
  return until(`the file is ${state}`, minute, async () => {
    const message = (await gateway.messageStatus(message_id)) as unknown as ReceivedRecord
    return message.media?.state === state && message
  })
}

async function download(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(system.devnet.apiUrl + path, { headers })
  return {
    status: response.status,
    headers: response.headers,
    body: Buffer.from(await response.arrayBuffer()),
  }
}

async function makeKey(): Promise<string> {
  const { body } = await gateway.call('create-key', { name: 'media' })
  return String(body.api_key)
}

async function eventsOf(messageId: string): Promise<Event[]> {
  const { body } = await gateway.get('events?limit=100')
  return (body.events as Event[]).filter(({ data }) => data.message_id === messageId)
}

describe.concurrent('the file of a received message', () => {
  it('stores the photo of a contact, announces it, and gives it out with a key or a link', async ({
    expect,
  }) => {
    const received = await receive('15552200101', photo, 'image/jpeg', 'Look at this')
    expect(received).toMatchObject({ direction: 'in', type: 'image', caption: 'Look at this' })
    const { message_id, media } = await untilMedia(received, 'stored')
    expect(media).toMatchObject({ size: photo.length, sha256: sha256(photo), filename: null })
    const types = await until('both events', minute, async () => {
      const events = await eventsOf(message_id)
      return events.length === 2 && events.map(({ type }) => type)
    })
    expect(types).toEqual(['message.received', 'media.stored'])

    const withKey = await download(`/media?id=${message_id}`, { 'x-api-key': await makeKey() })
    expect(withKey).toMatchObject({ status: 200, body: photo })
    expect(withKey.headers.get('content-type')).toBe(media?.mime)
    expect(withKey.headers.get('content-disposition')).toMatch(/^attachment;/)
    const withLink = await download(media?.url ?? '', { range: 'bytes=10-19' })
    expect(withLink).toMatchObject({ status: 206, body: photo.subarray(10, 20) })
    const [event] = await eventsOf(message_id)
    expect((await download(event?.data.message.media?.url ?? '')).body).toEqual(photo)
    const [{ sealed } = { sealed: undefined }] = await system.database.$client`
      SELECT sealed FROM received_media WHERE message_id = ${message_id}`
    expect(sealed).toBeNull()
  })

  it('does not give the file to another account', async ({ expect }) => {
    const { message_id } = await untilMedia(await receive('15552200102', photo, 'image/jpeg'), 'stored')
    const other = await system.createAccount()
    const answer = await other.get(`media?id=${message_id}`)
    expect([answer.status, answer.body.code]).toEqual([404, 'media_not_found'])
  })

  it('names the type by the bytes, whatever the sender claims', async ({ expect }) => {
    const page = Buffer.from('<html><script>alert(1)</script></html>')
    const { media } = await untilMedia(await receive('15552200103', page, 'image/jpeg'), 'stored')
    expect(media).toMatchObject({ mime: 'text/html', declared_mime: 'image/jpeg' })
  })

  it('downloads no file above the limit of its kind', async ({ expect }) => {
    const large = await receive('15552200104', randomBytes(imageBytesMax + 1), 'image/jpeg')
    expect(large.media).toMatchObject({ state: 'unavailable', reason: 'too_large' })
    const answer = await gateway.get(`media?id=${large.message_id}`)
    expect([answer.status, answer.body.code]).toEqual([404, 'media_unavailable'])
  })

  it('downloads no file for which the account has no room left', async ({ expect }) => {
    await untilMedia(await receive('15552200109', photo, 'image/jpeg'), 'stored')
    const large = await receive('15552200109', randomBytes(accountBytesMax), 'application/pdf')
    expect((await untilMedia(large, 'unavailable')).media?.reason).toBe('quota')
  })

  it('keeps one of two files that arrive at the same time when the account has room for one', async ({
    expect,
  }) => {
    const files = [randomBytes(600_000), randomBytes(600_000)]
    const received = await Promise.all(
      files.map((file, index) => receive(`1555220011${index}`, file, 'application/pdf')),
    )
    const ended = await Promise.all(
      received.map(({ message_id }) =>
        until('the download has ended', minute, async () => {
          const { media } = (await gateway.messageStatus(message_id)) as unknown as ReceivedRecord
          return media?.state !== 'pending' && media
        }),
      ),
    )
    expect(ended.map((media) => media?.reason ?? media?.state).toSorted()).toEqual(['quota', 'stored'])
    const names = readdirSync(join(system.devnet.dataFolder, 'media'), { recursive: true }).join()
    files.forEach((file, index) => {
      expect(names.includes(sha256(file))).toBe(ended[index]?.state === 'stored')
    })
  })
})

/** A file that WhatsApp refuses with this code when the sender, which was offline meanwhile, has the message. */
async function sendWhileOffline(
  from: string,
  file: Buffer,
  code: number,
  kind = 'media_expire',
): Promise<string> {
  const bringBack = await system.phones.keepOffline(sender)
  const sent = { to: sender, text: 'x', file: file.toString('base64'), mime: 'application/pdf' }
  const { wa_message_id } = await gateway.control<{ wa_message_id: string }>(`/chats/${from}/send`, sent)
  await gateway.control('/faults', { kind, code: String(code) })
  await bringBack()
  return wa_message_id
}

it.each([
  ['that WhatsApp no longer has', 410, 'media_expire'],
  ['whose bytes are not those of the message', 200, 'media_garble'],
])('lets the phone upload a file again %s', async (_, code, kind) => {
  const file = randomBytes(5000)
  const waId = await sendWhileOffline('15552200105', file, code, kind)
  const received = await until('the message is stored', minute, () => find(waId))
  const { media } = await untilMedia(received, 'stored')
  expect(media).toMatchObject({ size: file.length, sha256: sha256(file) })
  expect((await download(media?.url ?? '')).body).toEqual(file)
  await system.phones.clearFaults()
})

/** A file that could not be downloaded at the first attempt. */
async function receivePending(from: string, file: Buffer): Promise<ReceivedRecord> {
  const waId = await sendWhileOffline(from, file, 500)
  const received = await until('the message is stored', minute, () => find(waId))
  await until('an attempt has failed', minute, async () => {
    const [row] = await system.database.$client<{ attempts: number }[]>`
      SELECT attempts FROM received_media WHERE message_id = ${received.message_id}`
    return row && row.attempts > 0
  })
  return received
}

async function setNextAttempt({ message_id }: ReceivedRecord, interval: string): Promise<void> {
  await system.database.$client`
    UPDATE received_media SET next_attempt_at = now() + ${interval}::interval WHERE message_id = ${message_id}`
}

const typesOf = async (messageId: string) => (await eventsOf(messageId)).map(({ type }) => type)

it('stores a file once whose owner was killed before it had it', async () => {
  const file = randomBytes(5000)
  const received = await receivePending('15552200108', file)
  const owner = await system.ownerOf(sender)
  system.devnet.signal(owner, 'SIGKILL')
  await system.phones.clearFaults()
  const { message_id, media } = await untilMedia(received, 'stored')
  expect(media).toMatchObject({ sha256: sha256(file) })
  await until('both events', minute, async () => (await typesOf(message_id)).length === 2)
  expect(await typesOf(message_id)).toEqual(['message.received', 'media.stored'])
  await system.devnet.start(owner)
})

it('gives up a file that neither WhatsApp nor the phone has', async () => {
  const received = await receivePending('15552200107', randomBytes(5000))
  // No attempt while the sender is offline: the pause after it would be longer.
  await setNextAttempt(received, '1 hour')
  system.devnet.signal('simulator', 'SIGKILL')
  await until('the simulator is gone', minute, () => !system.devnet.pid('simulator'))
  await system.devnet.start('simulator')
  await until('the sender is online', minute, async () => (await system.phones.countConnected()) > 0)
  await setNextAttempt(received, '0 s')
  const { message_id, media } = await untilMedia(received, 'unavailable')
  expect(media?.reason).toBe('expired')
  await until('both events', minute, async () => (await typesOf(message_id)).length === 2)
  expect(await typesOf(message_id)).toEqual(['message.received', 'media.unavailable'])
})

it('a store that lost a file answers that it is unavailable', async () => {
  const { message_id } = await untilMedia(
    await receive('15552200106', randomBytes(100), 'audio/ogg'),
    'stored',
  )
  rmSync(join(system.devnet.dataFolder, 'media'), { recursive: true })
  const answer = await gateway.get(`media?id=${message_id}`)
  expect([answer.status, answer.body.code]).toEqual([404, 'media_unavailable'])
})
