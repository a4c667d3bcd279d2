import { EventEmitter } from 'node:events'
import { makeLogger } from '@wagate/runtime/logger'
import type { UserFacingSocketConfig, WASocket } from 'baileys'
import { describe, expect, test } from 'vitest'
import type { DeviceContext } from '../src/context.ts'
import { makeMetrics } from '../src/metrics.ts'
import { makeAddressees } from '../src/outbox/addressees.ts'
import { makeContactBudget } from '../src/outbox/contact-budget.ts'
import { makeDelivery } from '../src/outbox/delivery.ts'
import { makeInFlight } from '../src/outbox/in-flight.ts'
import type { MessageResults } from '../src/outbox/message-results.ts'
import type { OutboxDevice } from '../src/outbox/outbox-device.ts'
import { makeRecipientPace } from '../src/outbox/recipient-pace.ts'
import { makeRetries } from '../src/outbox/retries.ts'
import { reachOf, reportFanOut } from '../src/session/fan-out.ts'

type Repository = ReturnType<NonNullable<UserFacingSocketConfig['makeSignalRepository']>>

const own = ['15550000001:3@s.whatsapp.net', '900000000000001:3@lid']
const ownPhone = '15550000001@s.whatsapp.net'
const recipient = '15550000002@s.whatsapp.net'
const companion = '15550000002:5@s.whatsapp.net'

describe('the reach of a message', () => {
  test.each([
    { encrypted: [ownPhone, recipient, companion], failed: [], reach: 'all' },
    { encrypted: [ownPhone, companion], failed: [recipient], reach: 'part' },
    { encrypted: [recipient], failed: [ownPhone], reach: 'all' },
    { encrypted: [ownPhone], failed: [], reach: 'none' },
    { encrypted: ['900000000000001@lid'], failed: [], reach: 'none' },
    { encrypted: [], failed: [recipient], reach: 'none' },
  ])('is $reach when it was encrypted for $encrypted, but not for $failed', ({ reach, ...fanOut }) => {
    expect(reachOf(fanOut, recipient, own)).toBe(reach)
  })

  test('includes the sender when the sender is the recipient', () => {
    expect(reachOf({ encrypted: [ownPhone], failed: [] }, ownPhone, own)).toBe('all')
  })
})

describe('a delivery', () => {
  test('leaves out a device of the recipient only when it fails a second time', async () => {
    const { attempt, sent } = makeAttempts({ failing: [companion] })
    await expect(attempt()).rejects.toThrow('could not be encrypted for every device')
    expect(await attempt()).toEqual({ kind: 'acknowledged' })
    expect(sent()).toEqual({ times: 2, forgotten: ['15550000002', '15550000001', '900000000000001'] })
  })

  test('never counts a message as sent when nothing in it is for the recipient', async () => {
    const { attempt } = makeAttempts({ failing: [recipient, companion] })
    for (let n = 0; n < 3; n++) await expect(attempt()).rejects.toThrow('could not be encrypted')
  })

  test('sends a message once when every device can read it', async () => {
    const { attempt, sent } = makeAttempts({ failing: [] })
    expect(await attempt()).toEqual({ kind: 'acknowledged' })
    expect(sent()).toEqual({ times: 1, forgotten: [] })
  })
})

/** One message through a socket that encrypts as Baileys does: a device that it cannot encrypt for is left out. */
function makeAttempts({ failing }: { failing: string[] }) {
  const waId = '3EB0000000000000000001'
  const forgotten: unknown[] = []
  const inFlight = makeInFlight()
  let times = 0
  const repository = reportFanOut(
    standIn<Repository>({
      async encryptMessage({ jid }: { jid: string }) {
        if (failing.includes(jid)) throw new Error('No session')
        return { type: 'msg', ciphertext: new Uint8Array() }
      },
    }),
  )
  const sock = standIn<WASocket>({
    ws: new EventEmitter(),
    user: { id: own[0], lid: own[1] },
    userDevicesCache: { get: async () => ['0'], del: async (user: string) => void forgotten.push(user) },
    async relayMessage() {
      times += 1
      const data = new Uint8Array()
      const devices = [ownPhone, recipient, companion]
      await Promise.all(devices.map((jid) => repository.encryptMessage({ jid, data }).catch(() => undefined)))
      inFlight.resolve(waId, { kind: 'acknowledged' })
      return waId
    },
  })
  const nothing = async () => undefined
  const unlimited = { perDay: 0, warmUpDays: 0, warmUpDay: 0 }
  const claim = { refusal: undefined, end: nothing, release: nothing, releaseSuspect: nothing }
  const context = standIn<DeviceContext>({
    config: { outbox: { ackTimeoutMs: 60_000 } },
    logger: makeLogger('test', 'silent'),
    metrics: makeMetrics(),
    messageClaims: { claim: async () => claim },
  })
  const device = standIn<OutboxDevice>({
    id: 1,
    retries: makeRetries(),
    addressees: makeAddressees(),
    recipientPace: makeRecipientPace(0, {}),
    contactBudget: makeContactBudget({ budget: unlimited, newContacts: [], nowMs: 0 }, new Set(), () => 0),
    lease: { shard: 1 },
  })
  const results = standIn<MessageResults>({})
  const delivery = makeDelivery(context, device, sock, { inFlight, results })
  const message = standIn<Parameters<typeof delivery.send>[0]>({
    id: 'a message',
    waId,
    type: 'text',
    body: 'x',
    uploadedContent: null,
    interruptions: 0,
  })
  return {
    attempt: () => delivery.send(message, recipient, () => true),
    sent: () => ({ times, forgotten }),
  }
}

/** The parts of something large that a test needs. */
function standIn<Whole>(parts: object): Whole {
  return parts as Whole
}
