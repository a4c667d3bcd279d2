import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { WASocket } from '../session/connection/socket.ts'
import type { DeviceLists } from '../session/sending/device-lists.ts'
import { coverageOf, type FanOut } from '../session/sending/fan-out.ts'

/**
 * Throws when a device of the recipient was left out, once for each message, and whenever nothing is for the recipient:
 * WhatsApp acknowledges such a message as well.
 */
export function makeFanOutCheck(
  sock: WASocket,
  deviceLists: DeviceLists,
): (message: WaitingMessage, recipient: string, fanOut: FanOut) => Promise<void> {
  /** Messages that left out a device of their recipient once already. */
  const incomplete = new Set<string>()

  return async (message, recipient, fanOut) => {
    const coverage = coverageOf(fanOut, recipient, [sock.user?.id, sock.user?.lid])
    // A device whose keys are permanently bad must not keep the others from their messages.
    if (coverage === 'all' || (coverage === 'part' && incomplete.has(message.id))) return
    incomplete.add(message.id)
    await deviceLists.forget(recipient)
    throw new Error('The message could not be encrypted for every device of its recipient')
  }
}
