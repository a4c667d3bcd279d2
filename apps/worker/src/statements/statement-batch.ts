import type { Database } from '@wagate/db/client'
import { isRefusedContent } from '@wagate/db/failures'
import { type AuthWrite, storeAuthWrites } from '@wagate/db/queries/credentials/device-auth'
import { type Claim, type Claimed, claimWithAuthWrites } from '@wagate/db/queries/messages/message-claims'
import type { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { makeNaturalBatch, type NaturalBatch, type NaturalBatchOptions } from '@wagate/runtime/natural-batch'

/**
 * One statement for the items of many devices. If Postgres refuses it because of what is in it, they are tried one by one: a
 * contact of one device can choose what is stored for it, and must not stop the others.
 */
export function makeStatementBatch<Item, Result>(
  flush: (items: Item[]) => Promise<Result[]>,
  options: Omit<NaturalBatchOptions, 'isOfOneItem'>,
): NaturalBatch<Item, Result> {
  return makeNaturalBatch(flush, { ...options, isOfOneItem: isRefusedContent })
}

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
