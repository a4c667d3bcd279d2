import type { Database } from '@wagate/db/client'
import { type AuthWrite, storeAuthWrites } from '@wagate/db/queries/credentials/device-auth'
import { type Claim, type Claimed, claimWithAuthWrites } from '@wagate/db/queries/messages/message-claims'
import type { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { makeStatementBatch } from './statement-batch.ts'

/** Stores credentials and keys, and the claims of messages that they are about to encrypt, many in one statement. */
export type AuthWrites = {
  add(write: AuthWrite): Promise<OwnershipLost | undefined>
  /** Stored with the next write, or alone if there is none soon. Undefined as for `claimMessages`. */
  claimWithNext(claim: Claim): Promise<Claimed | undefined>
}

type Item = { write: AuthWrite } | { claim: Claim }

const batchItemsMax = 500
/** A message is encrypted within a few ms, unless the process is busy or something keeps it from being sent. */
const nextWriteMs = 50

export function makeAuthWrites(db: Database): AuthWrites {
  const batch = makeStatementBatch<Item, Claimed | OwnershipLost | undefined>(
    async (items) => {
      const writes = items.flatMap((item) => ('write' in item ? item.write : []))
      const claims = items.flatMap((item) => ('claim' in item ? item.claim : []))
      const { lost, claimed } =
        claims.length > 0
          ? await claimWithAuthWrites(db, claims, writes)
          : { lost: await storeAuthWrites(db, writes), claimed: [] }
      let [nextWrite, nextClaim] = [0, 0]
      return items.map((item) => ('write' in item ? lost[nextWrite++] : claimed[nextClaim++]))
    },
    { itemsMax: batchItemsMax, deferMs: nextWriteMs },
  )
  return {
    // The casts are safe: each kind of item has its kind of result.
    add: async (write) => (await batch.add({ write })) as OwnershipLost | undefined,
    claimWithNext: async (claim) => (await batch.addDeferred({ claim })) as Claimed | undefined,
  }
}
