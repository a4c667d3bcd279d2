import { setTimeout as delay } from 'node:timers/promises'
import type { CommandProducer } from '@wagate/queue/command-producer'
import type { Command } from '@wagate/shared/commands'
import { makeNaturalBatch } from '@wagate/shared/natural-batch'

const patienceMs = 250

/**
 * Places commands, those of concurrent requests together. Never fails, and a frozen Redis holds nobody up:
 * what is not placed, owners see in the database within seconds.
 */
export function makeCommander(
  producer: CommandProducer,
  onError: (error: unknown) => void,
): (command: Command) => Promise<void> {
  const batch = makeNaturalBatch<Command, void>(
    async (commands) => {
      await producer.add(commands).catch(onError)
      return commands.map(() => undefined)
    },
    { itemsMax: 1000 },
  )
  return async (command) => {
    await Promise.race([batch.add(command), delay(patienceMs, undefined, { ref: false })])
  }
}
