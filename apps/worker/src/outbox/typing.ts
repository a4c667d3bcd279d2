import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { kindOf } from '@wagate/shared/message-kinds'
import type { WASocket } from '../session/connection/socket.ts'
import type { Turn } from './recipient-lanes.ts'

type Message = Pick<WaitingMessage, 'id' | 'waId' | 'type' | 'typingSeconds'>

/**
 * Shows recipients that their sender is typing, or recording, before a message leaves. The message waits without being in
 * flight, and the pacer has counted it. Belongs to one connection.
 */
export type Typing = {
  /** Whether it is wanted and was not shown yet. */
  isDue(message: Message): boolean
  /** Returns for how many ms it is shown. */
  start(turn: { message: Message; recipient: Turn['recipient'] }): number
  /** Ms until the message may leave. 0 also when nothing is shown for it. */
  remainingMs(message: Pick<Message, 'id'>): number
  /** It was shown for long enough. */
  isOver(message: Pick<Message, 'id'>): boolean
  /** The message leaves now. */
  end(message: Pick<Message, 'id'>): void
  /** Ends all. Returns the WhatsApp ids of the messages that did not leave. */
  stop(): string[]
}

export function makeTyping(
  sock: Pick<WASocket, 'sendPresenceUpdate'>,
  onFailed: (error: unknown) => void,
  nowMs: () => number = () => performance.now(),
): Typing {
  const shown = new Map<string, { waId: string; untilMs: number }>()
  const remainingMs = ({ id }: Pick<Message, 'id'>) => Math.max(0, (shown.get(id)?.untilMs ?? 0) - nowMs())

  return {
    isDue: ({ id, typingSeconds }) => typingSeconds > 0 && !shown.has(id),
    start({ message: { id, waId, type, typingSeconds }, recipient }) {
      const forMs = typingSeconds * 1000
      shown.set(id, { waId, untilMs: nowMs() + forMs })
      sock.sendPresenceUpdate(kindOf(type).isRecorded ? 'recording' : 'composing', recipient).catch(onFailed)
      return forMs
    },
    remainingMs,
    isOver: (message) => shown.has(message.id) && remainingMs(message) === 0,
    end: ({ id }) => void shown.delete(id),
    stop() {
      const waIds = [...shown.values()].map(({ waId }) => waId)
      shown.clear()
      return waIds
    },
  }
}
