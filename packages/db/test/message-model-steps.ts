import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import fc from 'fast-check'
import { expect } from 'vitest'
import { isRefused } from '../src/message-states.ts'
import { requestUnlink } from '../src/queries/devices/device-desired-state.ts'
import { storeMediaPart } from '../src/queries/media/waiting-media.ts'
import { acceptMessages } from '../src/queries/messages/accept-messages.ts'
import { cancelMessage } from '../src/queries/messages/cancel-message.ts'
import { claimMessages } from '../src/queries/messages/message-claims.ts'
import { storeUploadedContent } from '../src/queries/messages/message-content.ts'
import { type MessageOutcome, recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import { insertReceivedMessages } from '../src/queries/messages/received-messages.ts'
import {
  failUnlinkedMessages,
  firstWaiting,
  type WaitingPosition,
} from '../src/queries/messages/unsendable-messages.ts'
import { listWaiting, move, type Real, type Step, step, stepOnMessage } from './message-model.ts'

function send(name: string, { isScheduled = false, hasBytes = false }): Step {
  return step(name, async (model, real) => {
    const id = makeMessageId(real.sender)
    const { db, accountId } = real
    const upload = { accountId, uploadId: randomUUID() }
    if (hasBytes) await storeMediaPart(db, { ...upload, position: 0, bytes: Buffer.alloc(3) })
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
    model.messages.push({ state: 'queued', isScheduled, generation: model.generation, hasBytes })
  })
}

const logOut = step('log out', async (model, { db, accountId, deviceId }) => {
  await requestUnlink(db, accountId, deviceId)
  model.isLinked = false
})

const wipe = step('the owner wipes', async (model, { db, deviceId }) => {
  if (!model.isLinked) await db.$client`UPDATE devices SET has_credentials = false WHERE id = ${deviceId}`
})

const link = step('link', async (model, { db, deviceId }) => {
  await db.$client`
    UPDATE devices SET desired = 'linked', has_credentials = true, link_generation = link_generation + 1
    WHERE id = ${deviceId}`
  model.isLinked = true
  model.generation += 1
})

const failUnlinked = step('the owner fails messages of an earlier link', async (model, real) => {
  for (let from: WaitingPosition | undefined = firstWaiting; from; )
    from = (await failUnlinkedMessages(real.db, real.fence, real.deviceId, from, 'Logged out.')).next
  for (const message of model.messages) {
    const isStale = !model.isLinked || message.generation !== model.generation
    if (isStale) move(message, 'sweep')
  }
})

const claim = step('the owner claims the next one', async (model, real) => {
  const [next] = await listWaiting(real)
  if (!next) return
  const claimed = { ...next, fence: real.fence, recipientJid: 'jid', setback: null }
  expect(await claimMessages(real.db, [claimed])).toEqual([{ interruptions: 0, isOptedOut: false }])
  const message = model.messages[real.ids.indexOf(next.id)]
  if (message) move(message, 'claim')
})

const cancel = stepOnMessage('cancel', async (message, id, { db, accountId }) => {
  const isCanceled = await cancelMessage(db, accountId, id)
  expect(isCanceled).toBe(!isRefused(message.state, 'cancel'))
  if (!isCanceled) return
  move(message, 'cancel')
  message.hasBytes = false
})

const comeDue = stepOnMessage('come due', async (message, id, { db }) => {
  await db.$client`UPDATE messages SET send_at = now() WHERE id = ${id} AND send_at IS NOT NULL`
  message.isScheduled = false
})

const upload = stepOnMessage('upload', async (message, id, real) => {
  const waiting = (await listWaiting(real)).find((one) => one.id === id)
  if (!waiting) return
  await storeUploadedContent(real.db, real.fence, { ...waiting, content: Buffer.from('uploaded') })
  message.hasBytes = false
})

const acknowledge = stepOnMessage('acknowledge', async (message, id, real) => {
  await record(real, id, 'sent')
  move(message, 'acknowledge')
})

const deliver = stepOnMessage('deliver', async (message, id, real) => {
  await record(real, id, 'delivered')
  move(message, 'deliver')
})

const read = stepOnMessage('read', async (message, id, real) => {
  await record(real, id, 'read')
  move(message, 'read')
})

const refuse = stepOnMessage('refuse', async (message, id, real) => {
  await record(real, id, 'failed')
  move(message, 'fail')
})

/** WhatsApp delivers the same message again until it is acknowledged. */
const receive = step('receive', async (model, real) => {
  for (let times = 0; times < 2; times++) {
    await insertReceivedMessages(real.db, [
      {
        fence: real.fence,
        id: makeMessageId(real.sender),
        accountId: real.accountId,
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

function record({ db, fence, deviceId }: Real, messageId: string, status: MessageOutcome['status']) {
  const error = { code: 'rejected_by_whatsapp' as const, sentence: 'No.' }
  const at = new Date().toISOString()
  return recordOutcomes(db, [
    { fence, deviceId, messageId, status, at, ...(status === 'failed' && { error }) },
  ])
}

export const steps = [
  fc.constant(link),
  fc.constant(link),
  fc.constant(logOut),
  fc.constant(wipe),
  fc.constant(failUnlinked),
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
  read,
  refuse,
]
