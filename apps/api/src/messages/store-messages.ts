import type { Database } from '@wagate/db/client'
import { databaseFailure } from '@wagate/db/failures'
import { type Acceptance, acceptMessages, type NewMessage } from '@wagate/db/queries/messages/accept-messages'
import { findKeyUses, type KeyUse } from '@wagate/db/queries/messages/message-key-uses'
import { type Deadline, tooLate } from '../http/deadline.ts'

/** A message to be stored, unless the deadline is over: then its caller has got a timeout response. */
export type StoreRequest = { message: NewMessage; deadline: Pick<Deadline, 'isOver'> }

export type StoreResult =
  | Acceptance
  /** An earlier request used the idempotency key. */
  | { outcome: 'replayed'; use: KeyUse }
  | { outcome: 'failed'; error: unknown }

type StoreLimits = Parameters<typeof acceptMessages>[2]

/** Requests with one idempotency key: the first is stored, the others share its result. */
type Duplicates = { first: StoreRequest; result: StoreResult; use: KeyUse | undefined }

/** Returns a result for each request, in order. Never rejects: a failure only fails the requests that it affects. */
export async function storeMessages(
  db: Database,
  requests: StoreRequest[],
  limits: StoreLimits,
): Promise<StoreResult[]> {
  const duplicatesOf = groupDuplicates(requests.filter(({ deadline }) => !deadline.isOver))
  const groups = [...new Set(duplicatesOf.values())]
  await storeFirsts(db, groups, limits)
  await findEarlierUses(db, groups)
  return requests.map((request) => {
    const duplicates = duplicatesOf.get(request)
    if (!duplicates) return { outcome: 'failed', error: tooLate() }
    const { first, result, use } = duplicates
    if (first === request && result.outcome === 'accepted') return result
    return use ? { outcome: 'replayed', use } : result
  })
}

function groupDuplicates(requests: StoreRequest[]): Map<StoreRequest, Duplicates> {
  const groups = new Map<unknown, Duplicates>()
  const duplicatesOf = new Map<StoreRequest, Duplicates>()
  for (const request of requests) {
    const key = keyOf(request) ?? request
    const duplicates = groups.get(key) ?? { first: request, result: { outcome: 'key_used' }, use: undefined }
    groups.set(key, duplicates)
    duplicatesOf.set(request, duplicates)
  }
  return duplicatesOf
}

async function storeFirsts(db: Database, groups: Duplicates[], limits: StoreLimits): Promise<void> {
  const results = await store(
    db,
    groups.map(({ first }) => first.message),
    limits,
  )
  for (const [index, duplicates] of groups.entries()) {
    duplicates.result = results[index] ?? duplicates.result
    const { message } = duplicates.first
    if (duplicates.result.outcome === 'accepted' && message.idempotency) {
      duplicates.use = {
        accountId: message.accountId,
        ...message.idempotency,
        messageId: message.id,
        deviceId: duplicates.result.deviceId,
        status: initialStatus(message),
        contact: duplicates.result.contact,
      }
    }
  }
}

/** Bisects a failed batch, so that an invalid row fails alone. When Postgres is down, all rows fail at once. */
async function store(db: Database, messages: NewMessage[], limits: StoreLimits): Promise<StoreResult[]> {
  if (messages.length === 0) return []
  try {
    return await acceptMessages(db, messages, limits)
  } catch (error) {
    if (messages.length === 1 || databaseFailure(error)) {
      return messages.map(() => ({ outcome: 'failed', error }))
    }
    const half = Math.ceil(messages.length / 2)
    const first = await store(db, messages.slice(0, half), limits)
    return [...first, ...(await store(db, messages.slice(half), limits))]
  }
}

/** A replay of an earlier request takes precedence over any reason to refuse this one. */
async function findEarlierUses(db: Database, groups: Duplicates[]): Promise<void> {
  const open = groups.filter(({ result }) => result.outcome !== 'accepted' && result.outcome !== 'failed')
  const keys = open.flatMap(({ first: { message } }) =>
    message.idempotency ? [{ accountId: message.accountId, ...message.idempotency }] : [],
  )
  if (keys.length === 0) return
  try {
    const uses = new Map((await findKeyUses(db, keys)).map((use) => [textOf(use), use]))
    for (const duplicates of open) duplicates.use = uses.get(keyOf(duplicates.first) ?? '')
  } catch (error) {
    for (const duplicates of open) {
      if (keyOf(duplicates.first)) duplicates.result = { outcome: 'failed', error }
    }
  }
}

function keyOf({ message: { accountId, idempotency } }: StoreRequest): string | undefined {
  return idempotency ? textOf({ accountId, ...idempotency }) : undefined
}

type KeyScope = Pick<KeyUse, 'accountId' | 'operation' | 'key'>

function textOf({ accountId, operation, key }: KeyScope): string {
  return JSON.stringify([accountId, operation, key])
}

export function initialStatus({ sendAt }: Pick<NewMessage, 'sendAt'>): 'queued' | 'scheduled' {
  return sendAt === null ? 'queued' : 'scheduled'
}
