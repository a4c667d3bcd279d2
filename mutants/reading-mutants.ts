import type { Mutant } from './mutant.ts'

/** What is kept of messages of contacts and of the phone. */
export const readingMutants: Mutant[] = [
  {
    name: 'contacts delete what the account has written',
    file: 'packages/db/src/queries/messages/message-changes.ts',
    text: 'AND from_me = by_me',
    replacement: '',
    test: {
      file: 'packages/db/test/message-changes.test.ts',
      title: 'the account edits and deletes elsewhere only what it has written, here or there',
    },
  },
  {
    name: 'messages read in another chat are read',
    file: 'packages/db/src/queries/messages/phone-reads.ts',
    text: 'AND known.read_at IS NULL\n          AND',
    replacement: 'AND known.read_at IS NULL\n          OR',
    test: {
      file: 'packages/db/test/phone-reads.test.ts',
      title: 'messages of a chat that were read on the phone are read once, and those of other chats are not',
    },
  },
  {
    name: 'a message whose content is missing counts as received',
    file: 'packages/db/src/queries/messages/received-messages.ts',
    text: 'wa_id = ${waId} AND ${ofKnown} AND unavailable IS NULL',
    replacement: 'wa_id = ${waId} AND ${ofKnown}',
    test: {
      file: 'packages/db/test/unavailable-messages.test.ts',
      title: 'a message without its content is not received yet, and its content takes its place, once',
    },
  },
  {
    name: 'an edit that cannot be read removes the text',
    file: 'packages/db/src/queries/messages/message-changes.ts',
    text: 'WHEN latest.has_text THEN latest.body ELSE message.body END',
    replacement: 'ELSE latest.body END',
    test: {
      file: 'packages/db/test/message-changes.test.ts',
      title: 'an edit that could not be read leaves the text, and its event says so',
    },
  },
  {
    name: 'the text of a business is dropped',
    file: 'apps/worker/src/session/receiving/kinds/business-kinds.ts',
    text: 'const body = text || header || footer',
    replacement: 'const body = header || footer',
    test: {
      file: 'apps/worker/test/kind-table.test.ts',
      title: 'is kept of: A message with buttons of a business, such as one with a one-time code',
      written: {
        file: 'apps/worker/test/business-samples.ts',
        title: 'A message with buttons of a business, such as one with a one-time code',
      },
    },
  },
  {
    name: 'details of a message have no common limit',
    file: 'apps/worker/src/session/receiving/cleaner.ts',
    text: 'Math.min(charsMax, charsLeft)',
    replacement: 'charsMax',
    test: {
      file: 'apps/worker/test/received-kinds.test.ts',
      title: 'is bounded and has nothing that Postgres refuses',
    },
  },
]
