import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { makeLogger } from '@wagate/runtime/logger'
import { initAuthCreds, type UserFacingSocketConfig, type WASocket } from 'baileys'
import { makeMetrics } from '../src/metrics/metrics.ts'
import { makeAttempt } from '../src/outbox/attempt.ts'
import { makeContactBudget } from '../src/outbox/contact-budget.ts'
import { makeNewContactPauses } from '../src/outbox/first-contacts.ts'
import { makeInFlight } from '../src/outbox/in-flight.ts'
import type { MessageClaim } from '../src/outbox/message-claims.ts'
import { makeHands } from '../src/outbox/message-hands.ts'
import { makeSentRecipients, type OutboxContext, type OutboxDevice } from '../src/outbox/outbox-context.ts'
import { makeRecipientPace } from '../src/outbox/pacer.ts'
import type { Turn } from '../src/outbox/recipient-lanes.ts'
import { makeRetries } from '../src/outbox/retries.ts'
import type { MessageResults } from '../src/outbox/settlement.ts'
import { makeFanOutReports } from '../src/session/sending/fan-out.ts'

type Repository = ReturnType<NonNullable<UserFacingSocketConfig['makeSignalRepository']>>
type Message = Turn['message']

export const own = ['15550000001:3@s.whatsapp.net', '900000000000001:3@lid']
export const ownPhone = '15550000001@s.whatsapp.net'
export const recipient = '15550000002@s.whatsapp.net'
export const companion = '15550000002:5@s.whatsapp.net'

type Given = {
  /** Devices that nothing can be encrypted for. */
  failing?: string[]
  message?: Partial<Message>
  encryptionMs?: number
  acknowledgedAfterMs?: number
  /** What a claim finds. Undefined: the message was canceled. */
  claimed?: (way: string) => Promise<Pick<MessageClaim, 'refusal'> | undefined>
}

/** One message through a socket that encrypts as Baileys does: a device that it cannot encrypt for is left out. */
export function makeAttempts({
  failing = [],
  message: fields = {},
  encryptionMs = 0,
  acknowledgedAfterMs = 0,
  claimed = async () => ({ refusal: undefined }),
}: Given) {
  const waId = '3EB0000000000000000001'
  const forgotten: unknown[] = []
  const steps: string[] = []
  const inFlight = makeInFlight()
  const firstContacts = makeNewContactPauses()
  let times = 0
  const fanOuts = makeFanOutReports()
  const repository = fanOuts.wrap(
    standIn<Repository>({
      async encryptMessage({ jid }: { jid: string }) {
        if (encryptionMs > 0) await delay(encryptionMs)
        if (failing.includes(jid)) throw new Error('No session')
        if (jid === recipient) steps.push('encrypted')
        return { type: 'msg', ciphertext: new Uint8Array() }
      },
    }),
  )
  const sock = standIn<WASocket>({
    ws: new EventEmitter(),
    user: { id: own[0], lid: own[1] },
    authState: { creds: initAuthCreds() },
    userDevicesCache: { get: async () => ['0'], del: async (user: string) => void forgotten.push(user) },
    relayMessage: () =>
      fanOuts.begin(async () => {
        times += 1
        const data = new Uint8Array()
        const encrypted = await Promise.allSettled(
          [ownPhone, recipient, companion].map((jid) => repository.encryptMessage({ jid, data })),
        )
        if (encrypted.every(({ status }) => status === 'rejected')) throw new Error('All encryptions failed')
        steps.push('left')
        const acknowledge = () =>
          inFlight.resolve(waId, { kind: 'acknowledged' }) && steps.push('acknowledged')
        if (acknowledgedAfterMs > 0) setTimeout(acknowledge, acknowledgedAfterMs)
        else acknowledge()
        return waId
      })(),
  })
  fanOuts.attachTo(sock)
  const nothing = async () => undefined
  const unlimited = { perDay: 0, warmUpDays: 0, warmUpDay: 0 }
  const claimIn = (way: string) => async () => {
    steps.push(way)
    const found = await claimed(way)
    return found && { contact: null, end: nothing, release: nothing, releaseSuspect: nothing, ...found }
  }
  const context = standIn<OutboxContext>({
    config: { outbox: { ackTimeoutMs: 60_000 } },
    logger: makeLogger('test', 'silent'),
    metrics: makeMetrics(),
    statements: { messageClaims: { claim: claimIn('claim'), claimLate: claimIn('claimLate') } },
  })
  const device = standIn<OutboxDevice>({
    id: 1,
    retries: makeRetries(),
    sentRecipients: makeSentRecipients(),
    pace: {
      recipientPace: makeRecipientPace(0, {}),
      contactBudget: makeContactBudget({ budget: unlimited, newContacts: [], nowMs: 0 }, new Set(), () => 0),
      sendsSinceMs: Date.parse('2026-01-01T00:00:00Z'),
    },
    firstContacts,
    lease: { shard: 1 },
  })
  const results = standIn<MessageResults>({ fail: async (_: Message, code: string) => void steps.push(code) })
  const attempt = makeAttempt(context, device, sock, { inFlight, results })
  const message = standIn<Message>({
    id: 'a message',
    waId,
    type: 'text',
    body: 'x',
    createdAt: '2026-01-01 00:00:01+00',
    status: 'queued',
    replyTo: null,
    uploadedContent: null,
    interruptions: 0,
    ...fields,
  })
  return {
    device,
    firstContacts,
    steps,
    /** Every step must be possible for the message's hand. */
    attempt(maySend = () => true) {
      const turn = { message, recipient }
      const hands = makeHands([{ turn, state: 'claiming' }])
      return attempt(turn, { maySend, onMove: (move) => hands.move(turn, move) })
    },
    sent: () => ({ times, forgotten }),
  }
}

/** The parts of something large that a test needs. */
function standIn<Whole>(parts: object): Whole {
  return parts as Whole
}
