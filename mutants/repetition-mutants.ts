import type { Mutant } from './mutant.ts'

const repeated = (kind: string) => ({
  file: 'packages/db/test/repeated-writes.test.ts',
  title: `the write ${kind} that is repeated while it is committing has happened once`,
  written: { title: 'the write %s that is repeated while it is committing has happened once' },
})

/** What is repeated because its answer was lost. */
export const repetitionMutants: Mutant[] = [
  {
    name: 'received message stored again beside itself',
    file: 'packages/db/src/queries/messages/received-messages.ts',
    text: 'FROM given JOIN keys USING (key)\n      -- As a join',
    replacement: 'FROM given\n      -- As a join',
    test: repeated('receive'),
  },
  {
    name: 'change told again beside itself',
    file: 'packages/db/src/queries/messages/message-changes.ts',
    text: 'FROM asked JOIN keys USING (key)',
    replacement: 'FROM asked',
    test: repeated('change'),
  },
  {
    name: 'outcome told again beside itself',
    file: 'packages/db/src/queries/messages/message-outcomes.ts',
    text: 'ORDER BY message.id FOR NO KEY UPDATE OF message',
    replacement: 'ORDER BY message.id',
    test: repeated('outcomes'),
  },
  {
    name: 'repeated link begins another generation',
    file: 'packages/db/src/queries/devices/device-link.ts',
    text: '${newWriteKeys(sql, sql`SELECT ${key}::uuid FROM lease`)}',
    replacement: 'SELECT ${key}::uuid FROM lease',
    test: repeated('link'),
  },
  {
    name: 'repeated claim counts as an attempt',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: 'given.recipient_jid IS NULL OR (${isRepeated}) IS TRUE',
    replacement: 'given.recipient_jid IS NULL',
    test: repeated('claim'),
  },
  {
    name: 'repeated round parks again',
    file: 'packages/db/src/queries/webhooks/webhook-rounds.ts',
    text: '${newWriteKeys(sql, sql`SELECT ${key}::uuid FROM webhooks WHERE ${isOwned}`)}',
    replacement: 'SELECT ${key}::uuid AS key FROM webhooks WHERE ${isOwned}',
    test: repeated('round'),
  },
  {
    name: 'failed download counted again',
    file: 'packages/db/src/queries/media/received-media.ts',
    text: 'attempts = ${attempts + 1}',
    replacement: 'attempts = attempts + 1',
    test: repeated('postponeMedia'),
  },
  {
    name: 'device that cannot be read is read every second',
    file: 'apps/worker/src/device/device.ts',
    text: 'failures += 1',
    replacement: 'failures = 1',
    test: {
      file: 'apps/worker/test/hosted-shard.test.ts',
      title: 'a device whose state cannot be read is read again after pauses that grow, until it is',
    },
  },
  {
    name: 'logout that WhatsApp refuses is repeated every second',
    file: 'apps/worker/src/device/connector.ts',
    text: 'logouts.unconfirmed + 1 : 1',
    replacement: '1 : 1',
    test: {
      file: 'system-tests/unnoticed-logout.test.ts',
      title: 'while WhatsApp refuses a logout, it is repeated after growing pauses',
    },
  },
]
