import type { Database } from '@wagate/db/client'
import { databaseFailure } from '@wagate/db/failures'
import { type Acceptance, acceptMessages, type NewMessage } from '@wagate/db/queries/accept-messages'
import { findKeyUses, type KeyUse } from '@wagate/db/queries/message-key-uses'
import { type Deadline, tooLate } from '../http/deadline.ts'

/** A message at the door; once the deadline is over its caller has been answered, and it must not be stored. */
export type Arrival = { message: NewMessage; deadline: Pick<Deadline, 'isOver'> }

export type Outcome =
  | Acceptance
  /** An earlier request used the idempotency key. */
  | { outcome: 'replayed'; use: KeyUse }
  | { outcome: 'failed'; error: unknown }

type Limits = Parameters<typeof acceptMessages>[2]

/** Arrivals under one idempotency key: the first is stored, the others share what becomes of it. */
type Twins = { first: Arrival; outcome: Outcome; use: KeyUse | undefined }

/** One outcome for each arrival, in their order. Never rejects: what goes wrong goes wrong for each alone. */
export async function settleArrivals(db: Database, arrivals: Arrival[], limits: Limits): Promise<Outcome[]> {
  const twinsOf = groupTwins(arrivals.filter(({ deadline }) => !deadline.isOver))
  const groups = [...new Set(twinsOf.values())]
  await storeFirsts(db, groups, limits)
  await findEarlierUses(db, groups)
  return arrivals.map((arrival) => {
    const twins = twinsOf.get(arrival)
    if (!twins) return { outcome: 'failed', error: tooLate() }
    if (twins.first === arrival && twins.outcome.outcome === 'accepted') return twins.outcome
    return twins.use ? { outcome: 'replayed', use: twins.use } : twins.outcome
  })
}

function groupTwins(arrivals: Arrival[]): Map<Arrival, Twins> {
  const groups = new Map<unknown, Twins>()
  const twinsOf = new Map<Arrival, Twins>()
  for (const arrival of arrivals) {
    const key = keyOf(arrival) ?? arrival
    const twins = groups.get(key) ?? { first: arrival, outcome: { outcome: 'key_used' }, use: undefined }
    groups.set(key, twins)
    twinsOf.set(arrival, twins)
  }
  return twinsOf
}

async function storeFirsts(db: Database, groups: Twins[], limits: Limits): Promise<void> {
  const outcomes = await store(
    db,
    groups.map(({ first }) => first.message),
    limits,
  )
  for (const [index, twins] of groups.entries()) {
    twins.outcome = outcomes[index] ?? twins.outcome
    const { message } = twins.first
    if (twins.outcome.outcome === 'accepted' && message.idempotency) {
      twins.use = {
        accountId: message.accountId,
        ...message.idempotency,
        messageId: message.id,
        deviceId: twins.outcome.deviceId,
        status: message.sendAt === null ? 'queued' : 'scheduled',
      }
    }
  }
}

/** One bad row fails alone; when Postgres is away, all fail at once. */
async function store(db: Database, messages: NewMessage[], limits: Limits): Promise<Outcome[]> {
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

/** What an earlier request left under a key comes before any reason to refuse this one. */
async function findEarlierUses(db: Database, groups: Twins[]): Promise<void> {
  const open = groups.filter(({ outcome }) => outcome.outcome !== 'accepted' && outcome.outcome !== 'failed')
  const keys = open.flatMap(({ first: { message } }) =>
    message.idempotency ? [{ accountId: message.accountId, ...message.idempotency }] : [],
  )
  if (keys.length === 0) return
  try {
    const uses = new Map((await findKeyUses(db, keys)).map((use) => [textOf(use), use]))
    for (const twins of open) twins.use = uses.get(keyOf(twins.first) ?? '')
  } catch (error) {
    for (const twins of open) if (keyOf(twins.first)) twins.outcome = { outcome: 'failed', error }
  }
}

function keyOf({ message: { accountId, idempotency } }: Arrival): string | undefined {
  return idempotency ? textOf({ accountId, ...idempotency }) : undefined
}

function textOf({
  accountId,
  operation,
  key,
}: {
  accountId: number
  operation: string
  key: string
}): string {
  return JSON.stringify([accountId, operation, key])
}
