import type { Database } from '@wagate/db/client'
import { type LearntContact, learnContacts } from '@wagate/db/queries/contacts/learn-contacts'
import { type AuthRead, type AuthValue, listAuthValues } from '@wagate/db/queries/credentials/device-auth'
import type { SignalFormat } from '@wagate/db/queries/credentials/signal-format'
import { type DeviceState, findDeviceStates } from '@wagate/db/queries/devices/device-owner-view'
import {
  type MessageOutcome,
  type OutcomeResult,
  recordOutcomes,
} from '@wagate/db/queries/messages/message-outcomes'
import { type SetbackNote, storeSetbacks } from '@wagate/db/queries/messages/message-setbacks'
import {
  type PhoneReceipt,
  type PhoneReceiptResult,
  recordPhoneReceipts,
} from '@wagate/db/queries/messages/phone-receipts'
import type { OwnershipLost } from '@wagate/db/queries/statements/fence'
import type { OwnedShard } from '@wagate/db/queries/workers/shard-leases'
import type { MediaStore } from '@wagate/media-store/media-store'
import type { DeviceEvents } from '@wagate/queue/device-events'
import type { EventHints } from '@wagate/queue/event-hints'
import { type FairSemaphore, makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { HostNames } from '@wagate/runtime/host-names'
import type { Logger } from '@wagate/runtime/logger'
import type { NaturalBatch } from '@wagate/runtime/natural-batch'
import { makeScopedCache, type Scope } from '../caches/scoped-cache.ts'
import type { Config } from '../config/config.ts'
import type { Inspector } from '../media/inspection/inspector.ts'
import { type MediaShares, makeMediaShares } from '../media/media-shares.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type CountedContacts, makeCountedContactsCache } from '../outbox/contact-budget.ts'
import { type MessageClaims, makeMessageClaims } from '../outbox/message-claims.ts'
import { makeRecipientsCache, type Recipients } from '../outbox/number-resolver.ts'
import { makeNextReads, type NextReads } from '../outbox/waiting-queue.ts'
import type { NotedContact } from '../session/contacts/device-contacts.ts'
import type { CachedAuth } from '../session/credentials/auth-store.ts'
import type { ClientVersion } from '../session/network/client-version.ts'
import { chooseNetwork, type Network } from '../session/network/network.ts'
import { type MediaArrivals, makeMediaArrivals } from '../session/receiving/media-arrivals.ts'
import { makeReceivedWrites, type ReceivedWrites } from '../session/receiving/received-writes.ts'
import { type AuthWrites, makeAuthWrites, makeStatementBatch } from '../statements/statement-batch.ts'
import { type LoginQueue, makeLoginQueue } from './login-queue.ts'

type Batch<Item, Result> = Pick<NaturalBatch<Item, Result>, 'add'>

/** What the devices of a worker share. */
export type DeviceContext = {
  config: Config
  logger: Logger
  metrics: Metrics
  db: Database
  events: DeviceEvents
  /** Wakes those who wait for events of an account. To be called once the events are stored. */
  publishEventHint: EventHints['publish']
  /** How Signal sessions are written. */
  signalFormat: SignalFormat
  whatsApp: {
    network: Network
    clientVersion: Pick<ClientVersion, 'current' | 'doubt'>
    /** A login costs 10 to 18 ms of CPU: too many at a time would stall the open sockets. */
    logins: LoginQueue
    /** Limited per account: each is a connection to WhatsApp that a caller can request without having a phone. */
    pairings: FairSemaphore
  }
  /** Each is one for many devices. */
  statements: {
    deviceStates: Batch<number, DeviceState | undefined>
    authReads: Batch<AuthRead, AuthValue[]>
    authWrites: AuthWrites
    nextReads: NextReads
    messageClaims: MessageClaims
    setbacks: Batch<SetbackNote, undefined>
    outcomes: NaturalBatch<MessageOutcome, OutcomeResult>
    phoneReceipts: Batch<PhoneReceipt, PhoneReceiptResult>
    receivedWrites: ReceivedWrites
    learntContacts: Batch<LearntContact, OwnershipLost | undefined>
  }
  /** Bounded for all devices together. Each call of the last four opens a new scope. */
  caches: {
    recipientsOf(deviceId: number): Recipients
    countedContactsOf(deviceId: number): CountedContacts
    auth(): Scope<CachedAuth>
    retryCounts(): Scope
    notedContacts(): Scope<NotedContact>
  }
  media: {
    shares: MediaShares
    inspector: Inspector
    arrivals: MediaArrivals
    store: MediaStore
    /** Of media URLs and proxies. The owners are accounts. */
    hostNames: HostNames
  }
  /** Call when a fenced write with this lease was rejected because the shard has another owner. */
  onLost(lease: OwnedShard): void
}

const loginsMax = 8
const hourMs = 3_600_000
const authCacheBytesMax = 64 * 2 ** 20
/** Enough for about 75 contacts that a sender is currently writing to. A sender with more uses no more memory. */
const authCacheBytesOfDeviceMax = 384 * 2 ** 10
const batchItemsMax = 500
/** How long an outcome may wait for others to be stored with it, unless a request waits for it. */
const outcomeDeferMs = 50

type Given = Pick<
  DeviceContext,
  'config' | 'logger' | 'metrics' | 'db' | 'events' | 'publishEventHint' | 'signalFormat' | 'onLost'
> & {
  /** May commit asynchronously: if a crash undoes a claim, its message is sent again under the same id. */
  claimsDb: Database
  clientVersion: ClientVersion
  media: Pick<DeviceContext['media'], 'inspector' | 'store' | 'hostNames'>
}

export function makeDeviceContext({ claimsDb, clientVersion, media, ...given }: Given): DeviceContext {
  const { config } = given
  return {
    ...given,
    whatsApp: {
      network: chooseNetwork(config, media.hostNames),
      clientVersion,
      logins: makeLoginQueue(loginsMax),
      pairings: makeFairSemaphore(config.pairings.max, { shareMax: config.pairings.perAccountMax }),
    },
    statements: makeStatements({ ...given, claimsDb }),
    caches: {
      recipientsOf: makeRecipientsCache(),
      countedContactsOf: makeCountedContactsCache(),
      auth: makeScopedCache({ sizeMax: authCacheBytesMax, scopeSizeMax: authCacheBytesOfDeviceMax }),
      retryCounts: makeScopedCache({ sizeMax: 50_000, ttlMs: hourMs }),
      notedContacts: makeScopedCache({ sizeMax: 100_000, scopeSizeMax: 2000 }),
    },
    media: { ...media, shares: makeMediaShares(config.media.memoryBytes), arrivals: makeMediaArrivals() },
  }
}

function makeStatements({
  db,
  claimsDb,
  logger,
  metrics,
}: Pick<Given, 'db' | 'claimsDb' | 'logger' | 'metrics'>): DeviceContext['statements'] {
  const authWrites = makeAuthWrites(db)
  return {
    // A worker that takes over shards reconciles hundreds of devices at the same time.
    deviceStates: makeStatementBatch((ids) => findDeviceStates(db, ids), { itemsMax: batchItemsMax }),
    authReads: makeStatementBatch((reads) => listAuthValues(db, reads), { itemsMax: batchItemsMax }),
    authWrites,
    nextReads: makeNextReads(db),
    messageClaims: makeMessageClaims({ db, claimsDb, authWrites }, logger),
    setbacks: makeStatementBatch(
      async (notes) => {
        await storeSetbacks(db, notes)
        return notes.map(() => undefined)
      },
      { itemsMax: batchItemsMax },
    ),
    receivedWrites: makeReceivedWrites(db),
    learntContacts: makeStatementBatch((learnt) => learnContacts(db, learnt), { itemsMax: batchItemsMax }),
    outcomes: makeStatementBatch(
      (outcomes) =>
        recordOutcomes(db, outcomes, (unknown) => {
          metrics.unknownOutcomes.inc(unknown.length)
          const deviceIds = [...new Set(unknown.map(({ deviceId }) => deviceId))]
          logger.warn({ count: unknown.length, deviceIds }, 'Outcomes for unknown messages')
        }),
      { itemsMax: batchItemsMax, deferMs: outcomeDeferMs },
    ),
    phoneReceipts: makeStatementBatch((receipts) => recordPhoneReceipts(db, receipts), {
      itemsMax: batchItemsMax,
    }),
  }
}
