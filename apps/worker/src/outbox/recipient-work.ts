import type { Turn } from './recipient-lanes.ts'

export type WorkKind = 'send' | 'prepare'

/** What is being done for the messages of a device: one thing at a time for each recipient. */
export type RecipientWork = {
  kindFor(recipient: string): WorkKind | undefined
  count(kind: WorkKind): number
  /** Does something for one message while the others to its recipient wait. Never rejects. */
  run(turn: Turn, kind: WorkKind, work: () => Promise<void>): Promise<void>
}

export function makeRecipientWork(hooks: {
  onFailed(turn: Turn, kind: WorkKind, error: unknown): void
  onDone(): void
}): RecipientWork {
  const kinds = new Map<string, WorkKind>()
  return {
    kindFor: (recipient) => kinds.get(recipient),
    count: (kind) => [...kinds.values()].filter((other) => other === kind).length,
    async run(turn, kind, work) {
      kinds.set(turn.recipient, kind)
      try {
        await work()
      } catch (error) {
        hooks.onFailed(turn, kind, error)
      }
      kinds.delete(turn.recipient)
      hooks.onDone()
    },
  }
}
