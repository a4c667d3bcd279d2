import type { Database } from '@wagate/db/client'
import { databaseFailure } from '@wagate/db/failures'
import { OwnershipLost } from '@wagate/db/queries/fence'
import { insertReceivedMessages, type ReceivedMessage } from '@wagate/db/queries/received-messages'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'

export type ReceivedWrites = {
  /** Resolves when it is stored. Rejects with the reason why this message cannot be stored. */
  add(message: ReceivedMessage): Promise<OwnershipLost | undefined>
}

const messagesAtOnceMax = 500

/** Stores the received messages of all devices together. One that the database refuses does not affect the others. */
export function makeReceivedWrites(db: Database): ReceivedWrites {
  const batch = makeNaturalBatch<ReceivedMessage, OwnershipLost | undefined | Refused>(
    async (messages) => {
      try {
        return await insertReceivedMessages(db, messages)
      } catch (error) {
        if (databaseFailure(error)) throw error
        return await oneByOne(db, messages)
      }
    },
    { itemsMax: messagesAtOnceMax },
  )
  return {
    async add(message) {
      const result = await batch.add(message)
      if (result && !(result instanceof OwnershipLost)) throw result.error
      return result
    },
  }
}

type Refused = { error: unknown }

async function oneByOne(
  db: Database,
  messages: ReceivedMessage[],
): Promise<(OwnershipLost | undefined | Refused)[]> {
  const results: (OwnershipLost | undefined | Refused)[] = []
  for (const message of messages) {
    results.push(
      await insertReceivedMessages(db, [message]).then(
        ([result]) => result,
        (error: unknown) => ({ error }),
      ),
    )
  }
  return results
}
