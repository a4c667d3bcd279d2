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
      await withPatience(producer.add(commands).catch(onError))
      return commands.map(() => undefined)
    },
    { itemsMax: 1000 },
  )
  return batch.add
}

/** What takes longer goes on by itself. */
function withPatience(work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patienceMs)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
