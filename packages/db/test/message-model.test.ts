import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import type { MessageStatus } from '@wagate/shared/statuses'
import { createTestDatabase } from '@wagate/test-kit/servers/test-database'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, type Database, openDatabase } from '../src/client.ts'
import { acceptMessages } from '../src/queries/accept-messages.ts'
import { insertAccount } from '../src/queries/accounts.ts'
import { cancelMessage } from '../src/queries/cancel-message.ts'
import { requestUnlink } from '../src/queries/device-desired-state.ts'
import { createDevice, findDevice } from '../src/queries/devices.ts'
import type { Fence } from '../src/queries/fence.ts'
import { findMediaBlob } from '../src/queries/media-blobs.ts'
import { claimMessages } from '../src/queries/message-claims.ts'
import { storeUploadedContent } from '../src/queries/message-content.ts'
import { recordOutcomes } from '../src/queries/message-outcomes.ts'
import { insertReceivedMessages } from '../src/queries/received-messages.ts'
import { claimShards } from '../src/queries/shard-leases.ts'
import {
  failUnlinkedMessages,
  firstWaiting,
  type WaitingPosition,
} from '../src/queries/unsendable-messages.ts'
import { storeMediaPart } from '../src/queries/waiting-media.ts'
import { listWaitingMessages } from '../src/queries/waiting-messages.ts'
import { registerWorker } from '../src/queries/workers.ts'

const histories = 60

let db: Database
let drop: () => Promise<void>
let accountId: number
let workerId: string

beforeAll(async () => {
  const database = await createTestDatabase()
  db = openDatabase(database.url, { poolSize: 4, applicationName: 'test', statementTimeoutMs: 5000 })
  drop = database.drop
  const account = await insertAccount(db, {
    email: 'a@example.com',
    passwordHash: '',
    role: 'USER',
    devicesAllowed: 10_000,
    expiresAt: null,
    key: { name: 'k', hash: Buffer.from('hash'), lastFour: 'hash' },
  })
  accountId = account?.id ?? 0
  workerId = randomUUID()
  await registerWorker(db, { id: workerId, name: 'w', capacity: 10_000, leaseTtlMs: 3_600_000 })
  const shards = Array.from({ length: 256 }, (_, shard) => shard)
  await claimShards(db, workerId, shards)
})
afterAll(async () => {
  await closeDatabase(db)
  await drop()
})

type ModelMessage = { status: MessageStatus; isScheduled: boolean; generation: number; hasBytes: boolean }
/** The model of a sender, with its messages in the order in which they were accepted. */
type Model = { isLinked: boolean; generation: number; messages: ModelMessage[]; received: number }
type Real = { deviceId: number; sender: string; fence: Fence; ids: string[] }
type Step = fc.AsyncCommand<Model, Real>

const isOpen = ({ status }: ModelMessage) => status === 'queued' || status === 'sending'
/** A message that was accepted for another link is not sent, also before it has failed. */
const isDue = (message: ModelMessage, { isLinked, generation }: Model) =>
  isOpen(message) && !message.isScheduled && isLinked && message.generation === generation

/** fast-check prints the name. */
function step(name: string, run: (model: Model, real: Real) => Promise<void>): Step {
  return {
    check: () => true,
    async run(model, real) {
      await run(model, real)
      await expectAsModelled(model, real)
    },
    toString: () => name,
  }
}

/** Applies a step to one of the messages, if there is one. */
function stepOnMessage(
  name: string,
  run: (message: ModelMessage, id: string, real: Real, model: Model) => Promise<void>,
): fc.Arbitrary<Step> {
  return fc.nat(20).map((place) =>
    step(`${name} ${place}`, async (model, real) => {
      const index = model.messages.length === 0 ? 0 : place % model.messages.length
      const [message, id] = [model.messages[index], real.ids[index]]
      if (message && id !== undefined) await run(message, id, real, model)
    }),
  )
}

function send(name: string, { isScheduled = false, hasBytes = false }): Step {
  return step(name, async (model, real) => {
    const id = makeMessageId(real.sender)
    const upload = { accountId, uploadId: randomUUID() }
    if (hasBytes) await storeMediaPart(db, { ...upload, position: 0, base64: 'AAAA' })
    const [acceptance] = await acceptMessages(
      db,
      [
        {
          id,
          waId: randomUUID(),
          accountId,
          sender: real.sender,
          number: '2',
          type: hasBytes ? 'document' : 'text',
          body: 'x',
          url: hasBytes ? 'data:application/pdf' : null,
          filename: null,
          sendAt: isScheduled ? new Date(Date.now() + 3_600_000).toISOString() : null,
          media: hasBytes ? { mime: 'application/pdf', bytes: 3, uploadId: upload.uploadId } : null,
          idempotency: null,
        },
      ],
      { mediaBytesMax: 2 ** 30 },
    )
    expect(acceptance?.outcome).toBe(model.isLinked ? 'accepted' : 'sender_not_connected')
    if (!model.isLinked) return
    real.ids.push(id)
    model.messages.push({ status: 'queued', isScheduled, generation: model.generation, hasBytes })
  })
}

const logOut = step('log out', async (model, { deviceId }) => {
  await requestUnlink(db, accountId, deviceId)
  model.isLinked = false
})

const wipe = step('the owner wipes', async (model, { deviceId }) => {
  if (!model.isLinked) await db.$client`UPDATE devices SET has_credentials = false WHERE id = ${deviceId}`
})

const link = step('link', async (model, { deviceId }) => {
  await db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = link_generation + 1
    WHERE id = ${deviceId}`
  model.isLinked = true
  model.generation += 1
})

const look = step('the owner fails what was accepted for an earlier link', async (model, real) => {
  for (let from: WaitingPosition | undefined = firstWaiting; from; )
    from = (await failUnlinkedMessages(db, real.fence, real.deviceId, from, 'Logged out.')).next
  for (const message of model.messages) {
    const isStale = !model.isLinked || message.generation !== model.generation
    if (isOpen(message) && isStale) message.status = 'failed'
  }
})

const claim = step('the owner claims the next one', async (model, real) => {
  const [next] = await listWaiting(real)
  if (!next) return
  const claimed = { ...next, fence: real.fence, recipientJid: 'jid', setback: null }
  expect(await claimMessages(db, [claimed])).toEqual([0])
  const message = model.messages[real.ids.indexOf(next.id)]
  if (message) message.status = 'sending'
})

const cancel = stepOnMessage('cancel', async (message, id) => {
  const isCanceled = await cancelMessage(db, accountId, id)
  expect(isCanceled).toBe(message.status === 'queued')
  if (!isCanceled) return
  message.status = 'canceled'
  message.hasBytes = false
})

const comeDue = stepOnMessage('come due', async (message, id) => {
  await db.$client`UPDATE messages SET send_at = now() WHERE id = ${id} AND send_at IS NOT NULL`
  message.isScheduled = false
})

const upload = stepOnMessage('upload', async (message, id, real) => {
  const waiting = (await listWaiting(real)).find((one) => one.id === id)
  if (!waiting) return
  await storeUploadedContent(db, real.fence, { ...waiting, content: Buffer.from('uploaded') })
  message.hasBytes = false
})

const acknowledge = stepOnMessage('acknowledge', async (message, id, real) => {
  await record(real, id, 'sent')
  if (isOpen(message)) message.status = 'sent'
})

const deliver = stepOnMessage('deliver', async (message, id, real) => {
  await record(real, id, 'delivered')
  if (message.status !== 'canceled' && message.status !== 'read') message.status = 'delivered'
})

const refuse = stepOnMessage('refuse', async (message, id, real) => {
  await record(real, id, 'failed')
  if (isOpen(message)) message.status = 'failed'
})

/** WhatsApp delivers the same message again until it is acknowledged. */
const receive = step('receive', async (model, real) => {
  for (let times = 0; times < 2; times++) {
    await insertReceivedMessages(db, [
      {
        fence: real.fence,
        id: makeMessageId(real.sender),
        accountId,
        deviceId: real.deviceId,
        sender: real.sender,
        number: '2',
        type: 'text',
        body: 'answer',
        waId: `received ${model.received}`,
        linkGeneration: model.generation,
      },
    ])
  }
  model.received += 1
})

const listWaiting = ({ deviceId }: Real) =>
  listWaitingMessages(db, deviceId, { except: [], exceptNumbers: [], without: [], limit: 100 })

function record({ fence, deviceId }: Real, messageId: string, status: 'sent' | 'delivered' | 'failed') {
  const error = { code: 'rejected_by_whatsapp' as const, sentence: 'No.' }
  const at = new Date().toISOString()
  return recordOutcomes(db, [
    { fence, deviceId, messageId, status, at, ...(status === 'failed' && { error }) },
  ])
}

async function expectAsModelled(model: Model, real: Real): Promise<void> {
  const rows = await db.$client<{ direction: string; status: MessageStatus; waId: string }[]>`
    SELECT direction, status, wa_id AS "waId" FROM messages WHERE device_id = ${real.deviceId} ORDER BY seq`
  const out = rows.filter(({ direction }) => direction === 'out')
  expect(out.map(({ status }) => status)).toEqual(model.messages.map(({ status }) => status))
  expect(rows.length - out.length).toBe(model.received)
  const due = real.ids.filter((_, index) => isDue(model.messages[index] as ModelMessage, model))
  expect((await listWaiting(real)).map(({ id }) => id)).toEqual(due)
  for (const [index, id] of real.ids.entries())
    if (model.messages[index]?.hasBytes) expect(await findMediaBlob(db, id)).toMatchObject({ size: 3 })
}

async function begin(): Promise<Real> {
  const sender = String(4_915_100_000_000 + senders++)
  await createDevice(db, accountId, { sender, name: 'x', cmsId: null, cmsVer: null })
  const device = await findDevice(db, accountId, { sender }, 0)
  const [lease] = await db.$client<{ epoch: number }[]>`
    SELECT epoch::int FROM shard_leases WHERE shard = ${device?.shard ?? -1}`
  if (!device || !lease) throw new Error('The device was not created')
  return {
    sender,
    deviceId: device.id,
    fence: { shard: device.shard, workerId, epoch: lease.epoch },
    ids: [],
  }
}
let senders = 0

test('the messages of a sender agree with a model of sends, schedules, cancellations, links, logouts and owners', async () => {
  const steps = [
    fc.constant(link),
    fc.constant(link),
    fc.constant(logOut),
    fc.constant(wipe),
    fc.constant(look),
    fc.constant(claim),
    fc.constant(claim),
    fc.constant(receive),
    fc.constant(send('send', {})),
    fc.constant(send('send', {})),
    fc.constant(send('send later', { isScheduled: true })),
    fc.constant(send('send media', { hasBytes: true })),
    fc.constant(send('send media later', { isScheduled: true, hasBytes: true })),
    cancel,
    comeDue,
    upload,
    acknowledge,
    deliver,
    refuse,
  ]
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 30, size: 'max' }), async (commands) => {
      const real = await begin()
      const model: Model = { isLinked: false, generation: 0, messages: [], received: 0 }
      await fc.asyncModelRun(() => ({ model, real }), commands)
    }),
    {
      numRuns: histories,
      endOnFailure: true,
      ...(process.env.MODEL_SEED && { seed: Number(process.env.MODEL_SEED) }),
    },
  )
}, 120_000)
