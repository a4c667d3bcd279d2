import { setTimeout as delay } from 'node:timers/promises'
import type { CommandProducer } from '@wagate/queue/command-producer'
import type { Command } from '@wagate/shared/commands'

export type Commander = {
  /** Nobody waits for it: what is not placed, owners see in the database within seconds. */
  place(command: Command): void
  /** Resolves when everything is placed, or has failed. */
  idle(): Promise<void>
}

/** While commands come without a pause, those of so long go together: one tells an owner of many messages. */
const gatherMs = 20

/** One placing at a time. A frozen Redis holds nobody up, and fails it within seconds. */
export function makeCommander(producer: CommandProducer, onError: (error: unknown) => void): Commander {
  let waiting: Command[] = []
  let placing: Promise<void> | undefined

  async function placeAll(): Promise<void> {
    while (waiting.length > 0) {
      const commands = waiting
      waiting = []
      await Promise.all([producer.add(commands).catch(onError), delay(gatherMs)])
    }
    placing = undefined
  }

  return {
    place(command) {
      waiting.push(command)
      placing ??= placeAll()
    },
    idle: async () => placing,
  }
}
