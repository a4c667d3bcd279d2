import type { CommandProducer } from '@wagate/queue/command-producer'
import { deduplicationId } from '@wagate/queue/command-queue'
import type { Command } from '@wagate/shared/commands'

export type CommandDispatcher = {
  /** In the background and best effort: owners find missed work in Postgres within seconds. */
  enqueue(command: Command): void
  /** Enqueues the delayed commands. Resolves once every command is enqueued or has failed. */
  finish(): Promise<void>
}

/** Repeats within this window are coalesced into one command: one is enough to announce many messages. */
const coalesceMs = 50

/** One batch in flight at a time. While Redis does not respond, batches fail within seconds and callers never wait. */
export function makeCommandDispatcher(
  producer: CommandProducer,
  onError: (error: unknown) => void,
): CommandDispatcher {
  let waiting: Command[] = []
  let sending: Promise<void> | undefined
  /** Commands sent within the window, with the repeat to send when it ends. */
  const recent = new Map<string, Command | undefined>()

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const commands = waiting
      waiting = []
      await producer.add(commands).catch(onError)
    }
    sending = undefined
  }

  function enqueue(command: Command): void {
    const id = deduplicationId(command)
    if (recent.has(id)) {
      recent.set(id, command)
      return
    }
    recent.set(id, undefined)
    setTimeout(() => endWindow(id), coalesceMs).unref()
    waiting.push(command)
    sending ??= sendAll()
  }

  function endWindow(id: string): void {
    const repeat = recent.get(id)
    recent.delete(id)
    if (repeat) enqueue(repeat)
  }

  return {
    enqueue,
    async finish() {
      for (const id of [...recent.keys()]) endWindow(id)
      await sending
    },
  }
}
