import type { Database } from '@wagate/db/client'
import { databaseFailure } from '@wagate/db/failures'
import { type MessageChange, recordMessageChanges } from '@wagate/db/queries/messages/message-changes'
import { insertReceivedMessages, type ReceivedMessage } from '@wagate/db/queries/messages/received-messages'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'

type ReceivedRow = ReceivedMessage | MessageChange

export type ReceivedWrites = {
  /** Resolves when it is stored. Rejects with the reason why this message cannot be stored. */
  add(received: ReceivedRow): Promise<OwnershipLost | undefined>
}

const messagesAtOnceMax = 500

/** Stores what the devices have received, in its order. What the database refuses does not affect the rest. */
export function makeReceivedWrites(db: Database): ReceivedWrites {
  const batch = makeNaturalBatch<ReceivedRow, Stored>(
    async (rows) => {
      const results: Stored[] = []
      for (const run of runsOf(rows)) results.push(...(await storeRun(db, run)))
      return results
    },
    { itemsMax: messagesAtOnceMax },
  )
  return {
    async add(received) {
      const result = await batch.add(received)
      if (result && !(result instanceof OwnershipLost)) throw result.error
      return result
    },
  }
}

type Refused = { error: unknown }
type Stored = OwnershipLost | undefined | Refused
type Run = { messages: ReceivedMessage[]; changes: MessageChange[] }

/**
 * Parts for one statement each: either messages or changes. A statement does not see the rows that it inserts, so a message
 * is not in one part with the one that it quotes.
 */
function runsOf(rows: ReceivedRow[]): Run[] {
  const runs: Run[] = []
  for (const row of rows) {
    const last = runs.at(-1)
    const run = last && fits(row, last) ? last : { messages: [], changes: [] }
    if (run !== last) runs.push(run)
    if ('kind' in row) run.changes.push(row)
    else run.messages.push(row)
  }
  return runs
}

function fits(row: ReceivedRow, { messages, changes }: Run): boolean {
  if ('kind' in row) return messages.length === 0
  // Nor with the one whose content it is.
  if (changes.length > 0 || messages[0]?.writtenOn !== row.writtenOn) return false
  return !messages.some(({ waId }) => waId === row.quoted?.waId || waId === row.waId)
}

async function storeRun(db: Database, { messages, changes }: Run): Promise<Stored[]> {
  return messages.length > 0
    ? storeAll(messages, (rows) => insertReceivedMessages(db, rows))
    : storeAll(changes, (rows) => recordMessageChanges(db, rows))
}

type Store<Row> = (rows: Row[]) => Promise<(OwnershipLost | undefined)[]>

async function storeAll<Row>(rows: Row[], store: Store<Row>): Promise<Stored[]> {
  try {
    return await store(rows)
  } catch (error) {
    if (databaseFailure(error)) throw error
    return oneByOne(rows, store)
  }
}

async function oneByOne<Row>(rows: Row[], store: Store<Row>): Promise<Stored[]> {
  const results: Stored[] = []
  for (const row of rows) {
    results.push(
      await store([row]).then(
        ([result]) => result,
        (error: unknown) => ({ error }),
      ),
    )
  }
  return results
}
