import type { Mutant } from './mutant.ts'

const ofUnannounced = {
  file: 'packages/queue/test/commands.test.ts',
  title: 'commands that were not announced are found, and not taken for announced ones',
}
const ofLostConnection = {
  file: 'packages/queue/test/command-handovers.test.ts',
  title: 'later commands are not lost after one was delivered over a lost connection',
}

/** From the API to the owner of a device. */
export const commandMutants: Mutant[] = [
  {
    name: 'commands that were not announced stay in the queue',
    file: 'packages/queue/src/command-consumers.ts',
    text: "await waiting.find(shardsOf(others), 'wait')",
    replacement: 'new Set<number>()',
    test: ofUnannounced,
  },
  {
    name: 'announced command swallows one that was not announced',
    file: 'packages/queue/src/command-producer.ts',
    text: "'-announced'",
    replacement: "''",
    test: ofUnannounced,
  },
  {
    name: 'announced command wakes its device again',
    file: 'packages/queue/src/shard-consumer.ts',
    text: ' && wokenBefore.has(command.deviceId)',
    replacement: ' && false',
    test: ofUnannounced,
  },
  {
    name: 'database not polled after a lost subscription',
    file: 'packages/queue/src/command-consumers.ts',
    text: 'wereMessagesLost ||= begun.size > 0',
    replacement: 'wereMessagesLost ||= false',
    test: ofLostConnection,
  },
  {
    name: 'active commands of a killed worker kept',
    file: 'packages/queue/src/command-consumers.ts',
    text: "await dropShards(waiting, consumers, await waiting.find(shardsOf(consumers), 'active'))",
    replacement: '',
    test: ofLostConnection,
  },
  {
    name: 'commands handled while Redis refuses to remove them',
    file: 'packages/queue/src/shard-consumer.ts',
    text: 'await waiting.remove(shard, commands)',
    replacement: 'void waiting.remove(shard, commands).catch(() => undefined)',
    test: {
      file: 'packages/queue/test/command-handovers.test.ts',
      title: 'while Redis refuses writes, sends wake their device, and other commands wait',
    },
  },
]
