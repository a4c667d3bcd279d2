import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { type Command, type CommandHandlers, commandSchema } from '@wagate/shared/commands'
import type { Leave } from './channels.ts'
import { announcementChannel, deduplicationId, readAnnouncement } from './command-queue.ts'
import type { OnRedisError } from './redis.ts'
import type { RedisLinks } from './redis-links.ts'
import type { WaitingCommands } from './waiting-commands.ts'

export type ShardConsumerOptions = {
  shard: number
  handlers: CommandHandlers
  onError: OnRedisError
  /** Called when commands may have been lost after the start: poll the database for work. */
  onDropped?: () => void
}

/** Handles the commands of one shard. Until `begin` it ignores announcements. */
export type ShardConsumer = {
  readonly shard: number
  /** Rejects without Redis. Try again then. */
  subscribe(): Promise<void>
  begin(): void
  /** In the background. */
  take(): void
  noteDropped(): void
  close(): void
}

export function makeShardConsumer(
  { requests, channels }: RedisLinks,
  { waiting, onWaiting }: { waiting: WaitingCommands; onWaiting(consumer: ShardConsumer): void },
  { shard, handlers, onError, onDropped }: ShardConsumerOptions,
): ShardConsumer {
  const { run, end } = makeCommandRuns(handlers, onError)
  /** Devices that announcements have woken since the last take. */
  let woken = new Set<number>()
  let hasBegun = false
  let isClosed = false
  let leave: Leave | undefined

  function receive(message: string): void {
    if (!hasBegun || isClosed) return
    const { sends } = readAnnouncement(message)
    // The commands themselves are taken later, many in one command.
    for (const deviceId of sends) {
      woken.add(deviceId)
      run({ kind: 'send', deviceId })
    }
    if (sends.length === 0) take()
    else onWaiting(consumer)
  }

  const take = makeSingleFlight(takeAll, (error) => {
    if (isClosed) return
    onWaiting(consumer)
    onError(error as Error)
  })

  async function takeAll(): Promise<void> {
    if (isClosed) return
    const wokenBefore = woken
    woken = new Set()
    const commands = await waiting.list(shard)
    try {
      await waiting.remove(shard, commands)
    } catch (error) {
      // Those that are still there are handled when removing them succeeds.
      noteDropped()
      throw error
    }
    for (const { payload } of commands) receiveJob(payload, wokenBefore)
  }

  function receiveJob(payload: unknown, wokenBefore: ReadonlySet<number>): void {
    const { data: command, error } = commandSchema.safeParse(payload)
    const wasWoken = command?.kind === 'send' && command.announced && wokenBefore.has(command.deviceId)
    if (error) onError(error)
    else if (!wasWoken) run(command)
  }

  function noteDropped(): void {
    if (!isClosed) onDropped?.()
  }

  const consumer: ShardConsumer = {
    shard,
    async subscribe() {
      leave ??= await channels.subscribe(announcementChannel(requests, shard), receive)
      if (isClosed) void leave()
    },
    begin() {
      hasBegun = true
    },
    take,
    noteDropped,
    close() {
      isClosed = true
      end()
      void leave?.()
    },
  }
  return consumer
}

type CommandRuns = {
  /** In the background. While an equal command is being handled, the latest one waits for it. */
  run(command: Command): void
  /** Handlers that run finish on their own. */
  end(): void
}

function makeCommandRuns(handlers: CommandHandlers, onError: OnRedisError): CommandRuns {
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
