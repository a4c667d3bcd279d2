import type { Command, CommandHandlers } from '@wagate/shared/commands'
import { deduplicationId } from './command-queue.ts'
import type { OnRedisError } from './redis.ts'

export type CommandRuns = {
  /** In the background. While an equal command is being handled, the latest one waits for it. */
  run(command: Command): void
  /** Handlers that run finish on their own. */
  end(): void
}

export function makeCommandRuns(handlers: CommandHandlers, onError: OnRedisError): CommandRuns {
  const running = new Set<string>()
  /** A handler may have read the database before its command came again, so once more is necessary, and enough. */
  const repeats = new Map<string, Command>()
  let hasEnded = false

  function run(command: Command): void {
    if (hasEnded) return
    const id = deduplicationId(command)
    if (running.has(id)) {
      repeats.set(id, command)
      return
    }
    running.add(id)
    void handle(command)
      .catch(onError)
      .finally(() => {
        running.delete(id)
        const repeat = repeats.get(id)
        repeats.delete(id)
        if (repeat) run(repeat)
      })
  }

  async function handle(command: Command): Promise<void> {
    const handler = handlers[command.kind] as (command: Command) => Promise<void>
    await handler(command)
  }

  return {
    run,
    end() {
      hasEnded = true
    },
  }
}
