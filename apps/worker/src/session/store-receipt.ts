import type { MessageOutcome } from '@wagate/db/queries/outbox'
import { messageIdOf } from '@wagate/shared/ids'
import type { DeviceContext } from '../context.ts'
import type { Lease } from '../ownership/lease.ts'
import type { Persist } from './persistence.ts'
import type { Receipt } from './receipts.ts'

/** Resolves when it is stored. Throws OwnershipLost. Ids that are not of this device's messages are left out. */
export async function storeReceipt(
  { outcomes }: Pick<DeviceContext, 'outcomes'>,
  { id: deviceId, sender, lease }: { id: number; sender: string; lease: Lease },
  { kind, waIds, at, saidBy }: Receipt,
  persist: Persist,
): Promise<void> {
  const rows = waIds.flatMap((waId): MessageOutcome[] => {
    const messageId = messageIdOf(waId, sender)
    return messageId
      ? [{ fence: lease, deviceId, messageId, status: kind, at: at.toISOString(), saidBy }]
      : []
  })
  const lost = await Promise.all(rows.map((row) => persist(() => outcomes.add(row))))
  const [first] = lost.filter((one) => one !== undefined)
  if (first) throw first
}
