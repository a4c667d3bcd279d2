import { type CommandProducer, deduplicationId } from '@wagate/queue/command-producer'
import type { Command } from '@wagate/shared/commands'

export type Commander = {
  /** Nobody waits for it: what is not placed, owners see in the database within seconds. */
  place(command: Command): void
  /** Places what is held back. Resolves when everything is placed, or has failed. */
  finish(): Promise<void>
}

/** A command that comes again sooner waits for the rest of it: one tells an owner of many messages. */
const restMs = 50

/** One placing at a time. A frozen Redis holds nobody up, and fails it within seconds. */
export function makeCommander(producer: CommandProducer, onError: (error: unknown) => void): Commander {
  let waiting: Command[] = []
  let placing: Promise<void> | undefined
  /** By what was said a moment ago: the same command, if it is to be said again. */
  const resting = new Map<string, Command | undefined>()

  async function placeAll(): Promise<void> {
    while (waiting.length > 0) {
      const commands = waiting
      waiting = []
      await producer.add(commands).catch(onError)
    }
    placing = undefined
  }

  function place(command: Command): void {
    const id = deduplicationId(command)
    if (resting.has(id)) {
      resting.set(id, command)
      return
    }
    resting.set(id, undefined)
    setTimeout(() => endRest(id), restMs).unref()
    waiting.push(command)
    placing ??= placeAll()
  }

  function endRest(id: string): void {
    const again = resting.get(id)
    resting.delete(id)
    if (again) place(again)
  }

  return {
    place,
    async finish() {
      for (const id of [...resting.keys()]) endRest(id)
      await placing
    },
  }
}
