import {
  endReadRequests,
  listReadRequests,
  type RequestedRead,
} from '@wagate/db/queries/messages/read-requests'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import type { WASocket } from '../session/connection/socket.ts'
import { readKeyOf, sendRead } from '../session/sending/send-read.ts'
import type { DeviceScope } from './device-scope.ts'

export type ReadReceipts = {
  /** Sends the receipts that are requested, or does nothing while there is no connection. */
  sendWaiting(): void
}

/** In one receipt, if they are of one chat. */
const messagesAtOnceMax = 100

/**
 * Tells contacts that their messages were read. The requests are in Postgres until the receipts have left, so the next
 * connection or the next owner sends those that are left. A contact that is told twice notices nothing.
 */
export function makeReadReceipts(
  { context, id, lease, logger }: Pick<DeviceScope, 'context' | 'id' | 'lease' | 'logger'>,
  openSock: () => WASocket | undefined,
): ReadReceipts {
  async function sendAll(): Promise<void> {
    for (;;) {
      const sock = openSock()
      if (!sock || !lease.isValid()) return
      const requests = await listReadRequests(context.db, id, messagesAtOnceMax)
      if (requests.length === 0) return
      const { keys, read, dropped } = sortOut(requests)
      await sendRead(sock, keys)
      await endReadRequests(context.db, lease, id, { read, dropped })
      if (dropped.length > 0) {
        logger.warn({ messageIds: dropped }, 'Dropped requests for messages that cannot be marked as read')
      }
    }
  }

  function onError(error: unknown): void {
    if (error instanceof OwnershipLost) context.onLost(error)
    else logger.warn({ err: error }, 'Marking messages as read failed, will retry')
  }

  return { sendWaiting: makeSingleFlight(sendAll, onError) }
}

function sortOut(requests: RequestedRead[]) {
  const found = requests.map((request) => ({ id: request.messageId, key: readKeyOf(request) }))
  return {
    keys: found.flatMap(({ key }) => key ?? []),
    read: found.flatMap(({ id, key }) => (key ? id : [])),
    dropped: found.flatMap(({ id, key }) => (key ? [] : id)),
  }
}
