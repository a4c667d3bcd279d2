import type { Mutant } from './mutant.ts'

export const contactMutants: Mutant[] = [
  {
    name: 'two lanes for a number and its LID',
    file: 'apps/worker/src/outbox/recipient-lanes.ts',
    text: 'return number === null ? recipient : `${number}@s.whatsapp.net`',
    replacement: 'return number === null ? recipient : recipient',
    test: {
      file: 'apps/worker/test/contact-lanes.test.ts',
      title: 'messages to a number and to its LID are in one lane, each to its own address',
    },
  },
  {
    name: 'a lane that becomes another one while messages are on the wire is free',
    file: 'apps/worker/src/outbox/message-hands.ts',
    text: 'works.set(laneOf(turn), work)\n    }',
    replacement: 'works.set(turn.recipient, work)\n    }',
    test: {
      file: 'apps/worker/test/contact-lanes.test.ts',
      title: 'when the number is learnt while messages to both are on the wire, the next one waits for both',
    },
  },
  {
    name: 'an opt-out of a LID ends when its number is learnt',
    file: 'packages/db/src/queries/contacts/known-contacts.ts',
    text: 'SELECT account_id, number, created_at FROM moved_opt_outs AS moved\n    WHERE NOT EXISTS',
    replacement:
      'SELECT account_id, number, created_at FROM moved_opt_outs AS moved\n    WHERE false AND NOT EXISTS',
    test: {
      file: 'packages/db/test/known-contacts.test.ts',
      title: 'its opt-out counts for both, in every form of the number',
    },
  },
]
