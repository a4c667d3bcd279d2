import type { Mutant } from './mutant.ts'

/** What a program that polls gets. */
export const historyMutants: Mutant[] = [
  {
    name: 'pages that begin at a message of another account',
    file: 'packages/db/src/queries/message-history.ts',
    text: 'eq(messages.accountId, accountId), eq(messages.id, messageId)',
    replacement: 'eq(messages.id, messageId)',
    test: {
      file: 'apps/api/test/message-filters.test.ts',
      title: 'cannot begin at an unknown message or one of another account',
    },
  },
  {
    name: 'cursor of new messages behind one that is committed later',
    file: 'packages/db/src/queries/history-pages.ts',
    text: 'shown.findLast((message) => message.isSettled)',
    replacement: 'shown.at(-1)',
    test: {
      file: 'packages/db/test/history-pages.test.ts',
      title:
        'a message that is stored first and committed last is not missed by a program that follows nextAfter',
    },
  },
]
