import type { Mutant } from './mutant.ts'

export const waitingMutants: Mutant[] = [
  {
    name: 'a file that cannot be had waits for the end of its message',
    file: 'apps/worker/src/outbox/settlement.ts',
    text: 'isFilesFault(error) && leftMs <= 0',
    replacement: 'isFilesFault(error) && leftMs < -1e12',
    test: {
      file: 'system-tests/waiting.test.ts',
      title: 'fails within its time, and says until then what waits for what',
    },
  },
  {
    name: 'a canceled message holds back others until its next attempt',
    file: 'apps/worker/src/outbox/outbox.ts',
    text: 'checkEnded()',
    replacement: '',
    test: {
      file: 'system-tests/waiting.test.ts',
      title: 'frees what is behind it when it is canceled: /unavailable',
      written: { title: 'frees what is behind it when it is canceled: %s' },
    },
  },
  {
    name: 'a message that fails for long holds back others',
    file: 'apps/worker/src/outbox/recipient-lanes.ts',
    text: "if (waitMs > 0 && facts.mayBePassed(message)) return 'passed'",
    replacement: '',
    test: {
      file: 'apps/worker/test/passed-heads.test.ts',
      title: 'a message that has failed for long holds back none',
      written: { title: 'a message %s' },
    },
  },
  {
    name: 'an expiry that wakes no outbox',
    file: 'apps/worker/src/upkeep/expiry.ts',
    text: 'hosted.get(shard)?.devices.get(id)?.wake()',
    replacement: 'void hosted',
    test: {
      file: 'apps/worker/test/expiry.test.ts',
      title: 'a message that expires wakes the outbox of its device, for what was behind it',
    },
  },
  {
    name: 'log without the reference of the message',
    file: 'apps/worker/src/outbox/settlement.ts',
    text: '...(reference !== null && { reference })',
    replacement: '...(reference === undefined && { reference })',
    test: {
      file: 'apps/worker/test/settlement.test.ts',
      title: 'a failed attempt is logged with the reference of its message',
      written: { title: 'a failed attempt is logged %s' },
    },
  },
]
