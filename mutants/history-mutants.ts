import type { Mutant } from './mutant.ts'

const ofTimeline = 'packages/db/test/message-timeline.test.ts'
const everyStep = {
  file: ofTimeline,
  title: 'each attempt, setback and takeover is a step, and every step has its time',
}

/** What a program that polls gets. */
export const historyMutants: Mutant[] = [
  {
    name: 'pages that begin at a message of another account',
    file: 'packages/db/src/queries/messages/message-history.ts',
    text: 'belongsTo(accountId), eq(messages.id, messageId)',
    replacement: 'eq(messages.id, messageId)',
    test: {
      file: 'apps/api/test/message-filters.test.ts',
      title: 'cannot begin at an unknown message or one of another account',
    },
  },
  {
    name: 'two days of an account searched for one message',
    file: 'packages/db/src/queries/messages/message-history.ts',
    text: '${messages.accountId} + 0 =',
    replacement: '${messages.accountId} =',
    test: {
      file: 'packages/db/test/young-partition.test.ts',
      title: 'a page of events reads few index pages in a week that has just begun',
      written: { title: '%s reads few index pages in a week that has just begun' },
    },
  },
  {
    name: 'cursor of new messages behind one that is committed later',
    file: 'packages/db/src/queries/messages/history-pages.ts',
    text: 'shown.findLast((message) => message.isSettled)',
    replacement: 'shown.at(-1)',
    test: {
      file: 'packages/db/test/history-pages.test.ts',
      title:
        'a message that is stored first and committed last is not missed by a program that follows nextAfter',
    },
  },
  {
    name: 'takeover not in the timeline',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: "message.status = 'sending' AND message.held_epoch <> valid.epoch",
    replacement: 'false',
    test: everyStep,
  },
  {
    name: 'earlier entries of a timeline lost',
    file: 'packages/db/src/queries/messages/timeline-entries.ts',
    text: "coalesce(${timeline}, '')",
    replacement: "''",
    test: everyStep,
  },
  {
    name: 'setback stored by a former owner',
    file: 'packages/db/src/queries/messages/message-setbacks.ts',
    text: 'USING (shard, epoch)',
    replacement: 'ON true',
    test: { file: ofTimeline, title: 'a former owner adds no step, also beside the present one' },
  },
  {
    name: 'a partition with scheduled messages dropped',
    file: 'packages/db/src/queries/statements/partitions.ts',
    text: 'is_waiting AND send_at IS NOT NULL LIMIT 1',
    replacement: 'false LIMIT 1',
    test: {
      file: 'packages/db/test/partitions.test.ts',
      title: 'are kept while they hold a message that is scheduled for later',
    },
  },
  {
    name: 'any message of the account has the reference',
    file: 'packages/db/src/queries/messages/message-timeline.ts',
    text: 'reference === undefined ? undefined : eq(messages.reference, reference)',
    replacement: 'undefined',
    test: {
      file: 'apps/api/test/reference.test.ts',
      title: 'messages are found by their reference: all of them, the newest, and those of no other account',
    },
  },
  {
    name: 'a page has messages with other references',
    file: 'packages/db/src/queries/messages/history-filter.ts',
    text: 'reference !== undefined && eq(messages.reference, reference)',
    replacement: 'false',
    test: {
      file: 'apps/api/test/reference.test.ts',
      title: 'messages are found by their reference: all of them, the newest, and those of no other account',
    },
  },
]
