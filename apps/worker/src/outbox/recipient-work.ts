import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { Turn } from './recipient-lanes.ts'

export type WorkKind = 'send' | 'prepare'

/** What is being done for the messages of a device: one thing at a time for each recipient. */
export type RecipientWork = {
  kindFor(recipient: string): WorkKind | undefined
  isFor(message: WaitingMessage): boolean
  count(kind: WorkKind): number
  /** Does something for one message while the others to its recipient wait. Never rejects. */
  run(turn: Turn, kind: WorkKind, work: () => Promise<void>): Promise<void>
}

export function makeRecipientWork(hooks: {
  onFailed(turn: Turn, kind: WorkKind, error: unknown): void
  onDone(): void
}): RecipientWork {
  const running = new Map<string, { kind: WorkKind; messageId: string }>()
  return {
    kindFor: (recipient) => running.get(recipient)?.kind,
    isFor: ({ id }) => [...running.values()].some(({ messageId }) => messageId === id),
    count: (kind) => [...running.values()].filter((work) => work.kind === kind).length,
    async run(turn, kind, work) {
      running.set(turn.recipient, { kind, messageId: turn.message.id })
      try {
        await work()
      } catch (error) {
        hooks.onFailed(turn, kind, error)
      }
      running.delete(turn.recipient)
      hooks.onDone()
    },
  }
}
