import type { Database } from '@wagate/db/client'
import { listNextMessages, type NextRead } from '@wagate/db/queries/messages/next-messages'
import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'

/** Reads the next messages of devices, those of several devices in one statement. */
export type NextReads = { read(wanted: NextRead): Promise<WaitingMessage[]> }

const devicesMax = 100

export function makeNextReads(db: Database): NextReads {
  const batch = makeNaturalBatch((reads: NextRead[]) => listNextMessages(db, reads), { itemsMax: devicesMax })
  return {
    async read(wanted) {
      try {
        return await batch.add(wanted)
      } catch {
        // A device whose read takes too long must not keep the others from theirs.
        const [alone = []] = await listNextMessages(db, [wanted])
        return alone
      }
    },
  }
}
