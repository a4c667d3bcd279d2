import type { Database } from '../src/client.ts'
import { learnContacts } from '../src/queries/contacts/learn-contacts.ts'
import { storeAuthWrites } from '../src/queries/credentials/device-auth.ts'
import { acceptMessages } from '../src/queries/messages/accept-messages.ts'
import { cancelMessage } from '../src/queries/messages/cancel-message.ts'
import { recordMessageChanges } from '../src/queries/messages/message-changes.ts'
import {
  type Claim,
  claimFirstMessages,
  claimMessages,
  claimWithAuthWrites,
  releaseMessages,
} from '../src/queries/messages/message-claims.ts'
import { storeUploadedContent } from '../src/queries/messages/message-content.ts'
import { recordOutcomes } from '../src/queries/messages/message-outcomes.ts'
import { insertReceivedMessages } from '../src/queries/messages/received-messages.ts'
import {
  expireMessages,
  failUnlinkedMessages,
  firstWaiting,
} from '../src/queries/messages/unsendable-messages.ts'
import type { Fence } from '../src/queries/statements/fence.ts'
import type { WebhookLease } from '../src/queries/webhooks/webhook-leases.ts'

/** One device, its owner and its webhook. Ids that callers choose are the same in each world. */
export type World = {
  db: Database
  accountId: number
  deviceId: number
  fence: Fence
  lease: WebhookLease
  sender: string
  contacts: string[]
  /** Sent ones, oldest first. */
  messages: { id: string; waId: string; createdAt: string }[]
  /** Received ones: see `receivedId`. */
  receivedIds: string[]
  isLinked: boolean
}

/** What is drawn: which message and contact, and a number that chooses the rest. `turn`: the place of the step. */
export type Draw = { message: number; contact: number; variant: number; turn: number }

/** A write with all that it is given, as its caller repeats it. */
type Write = (db: Database) => Promise<unknown>
export type Step = (world: World, draw: Draw) => Write

export const pick = <Item>(items: readonly Item[], index: number) => items[index % items.length] as Item

/** Each contact writes a message for each variant. */
export const receivedId = ({ receivedIds }: World, variant: number, contact: number) =>
  pick(receivedIds, (variant % variants) + (contact % 2) * variants)
export const variants = 5

function claimOf({ fence, messages, contacts }: World, { message }: Draw): Claim {
  const { id, createdAt } = pick(messages, message)
  return { fence, id, createdAt, recipientJid: `${pick(contacts, message)}@s.whatsapp.net`, setback: null }
}

function receivedOf(world: World, { contact, variant }: Draw) {
  const { fence, accountId, deviceId, sender, contacts } = world
  const sealed = { state: 'pending', sealed: Buffer.from('key') } as const
  const file = {
    declaredMime: 'image/png',
    filename: null,
    size: 1,
    sha256: Buffer.alloc(32, variant),
    ...sealed,
  }
  return {
    fence,
    id: receivedId(world, variant, contact),
    accountId,
    deviceId,
    sender,
    number: variant % 3 === 0 ? null : pick(contacts, contact),
    contactJid: variant % 3 === 1 ? null : `${pick(contacts, contact)}0@lid`,
    type: variant === 4 ? ('image' as const) : ('text' as const),
    body: `received ${variant}`,
    consent: pick([null, 'opt-out', 'opt-in'] as const, variant),
    waId: `R${variant}-${contact}`,
    linkGeneration: 1,
    media: variant === 4 ? file : undefined,
  }
}

const auth = ({ fence, deviceId }: World, { variant, turn }: Draw) => ({
  fence,
  deviceId,
  rows: [{ type: 'session', id: `s${variant}`, value: turn % 4 === 0 ? null : Buffer.from(`state ${turn}`) }],
})

/** Writes of messages that their callers repeat, or may repeat, after an answer that did not come. */
export const messageSteps: Record<string, Step> = {
  receive: (world, draw) => (db) => insertReceivedMessages(db, [receivedOf(world, draw)]),
  learn: ({ fence, deviceId, contacts }, { contact, variant }) => {
    const number = variant % 2 === 0 ? pick(contacts, contact) : null
    const learnt = {
      fence,
      deviceId,
      lidJid: `${pick(contacts, contact)}0@lid`,
      number,
      username: `u${variant}`,
    }
    return (db) => learnContacts(db, [learnt])
  },
  change(world, draw) {
    const { fence, accountId, deviceId, sender, contacts, messages } = world
    const kind = pick(['reaction', 'edited', 'deleted', 'poll_vote'] as const, draw.variant)
    const isOfOwn = kind === 'reaction'
    const change = {
      ...{ fence, accountId, deviceId, sender, kind, number: pick(contacts, draw.contact), fromMe: isOfOwn },
      waId: `C${draw.variant}`,
      target: isOfOwn ? pick(messages, draw.message).waId : `R${draw.message}-${draw.contact}`,
      text: 'x',
    }
    return (db) => recordMessageChanges(db, [change])
  },
  accept({ accountId, sender, contacts }, { contact, variant, turn }) {
    const id = `019a0000-0000-7000-8000-${String(turn).padStart(12, '0')}`
    const key = { operation: 'send-message', key: `k${variant}`, payloadHash: 'aGFzaA==' }
    const rest = { url: null, filename: null, sendAt: null, media: null, idempotency: key }
    const message = { id, waId: id, accountId, sender, number: pick(contacts, contact), body: 'x', ...rest }
    return (db) => acceptMessages(db, [{ ...message, type: 'text' }], { mediaBytesMax: 0 })
  },
  cancel:
    ({ accountId, messages }, { message }) =>
    (db) =>
      cancelMessage(db, accountId, pick(messages, message).id),
  claim: (world, draw) => (db) => claimMessages(db, [claimOf(world, draw)]),
  claimFirst: (world, draw) => (db) => claimFirstMessages(db, [claimOf(world, draw)]),
  claimWithState: (world, draw) => (db) =>
    claimWithAuthWrites(db, [claimOf(world, draw)], [auth(world, draw)]),
  release: (world, draw) => (db) => releaseMessages(db, [claimOf(world, draw)]),
  storeState: (world, draw) => (db) => storeAuthWrites(db, [auth(world, draw)]),
  upload:
    ({ fence, messages }, { message }) =>
    (db) =>
      storeUploadedContent(db, fence, { ...pick(messages, message), content: Buffer.from('content') }),
  outcomes({ fence, deviceId, messages }, { message, variant }) {
    const ranks = ['sent', 'delivered', 'read', 'played', 'failed'] as const
    const given = [message, message + 1].map((index, place) => {
      const { id, createdAt } = pick(messages, index)
      return { ...{ fence, deviceId, messageId: id, createdAt }, status: pick(ranks, variant + place) }
    })
    const error = { code: 'message_expired' as const, sentence: 'It failed.' }
    const at = new Date().toISOString()
    return (db) =>
      recordOutcomes(
        db,
        given.map((outcome) => ({ ...outcome, at, ...(outcome.status === 'failed' && { error }) })),
      )
  },
  expire:
    ({ fence, deviceId }) =>
    (db) =>
      expireMessages(db, fence, deviceId, firstWaiting, { ttlMs: -60_000, sentence: 'Too late.' }),
  failUnlinked:
    ({ fence, deviceId }) =>
    (db) =>
      failUnlinkedMessages(db, fence, deviceId, firstWaiting, 'Logged out.'),
}
