import type { Mutant } from './mutant.ts'

/** How a message is claimed before it leaves. */
export const claimMutants: Mutant[] = [
  {
    name: 'known contact counted as a new one',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: "WHERE NOT ${isKnownOrCounted(sql, 'marked')} AND",
    replacement: 'WHERE',
    test: {
      file: 'packages/db/test/new-contacts.test.ts',
      title: 'counts on the day of its first message only, also if WhatsApp refused that',
    },
  },
  {
    name: 'an opt-out is ignored',
    file: 'apps/worker/src/outbox/attempt.ts',
    text: 'if (!claim.refusal) return claim',
    replacement: "if (claim.refusal !== 'message_stops_workers') return claim",
    test: {
      file: 'system-tests/opt-outs.test.ts',
      title: 'a message to a recipient that has opted out fails and never leaves, until it opts in',
    },
  },
  {
    name: 'a text leaves before its claim is stored',
    file: 'apps/worker/src/session/sending/fan-out.ts',
    text: 'await fanOut?.mayLeave()',
    replacement: 'void fanOut?.mayLeave().catch(() => undefined)',
    test: {
      file: 'apps/worker/test/late-claims.test.ts',
      title: 'begins before it is encrypted, and it leaves only after the claim is stored',
    },
  },
  {
    name: 'sends of one sender overlap',
    file: 'apps/worker/src/session/credentials/signal-steps.ts',
    text: 'oneAtATime(begin(work))',
    replacement: 'begin(work)()',
    test: {
      file: 'apps/worker/test/transactions.test.ts',
      title: 'transactions run one after the other, also when one fails',
    },
  },
  {
    name: 'what is encrypted counts for the message that was given last',
    file: 'apps/worker/src/session/sending/fan-out.ts',
    text: 'const own = given\n      given = undefined\n      return async () => {\n        current = own',
    replacement: 'current = given\n      given = undefined\n      return async () => {',
    test: {
      file: 'apps/worker/test/fan-out.test.ts',
      title: 'keeps messages apart that one socket sends at the same time',
    },
  },
  {
    name: 'a message leaves before its claim if Baileys waits before its transaction',
    file: 'apps/worker/src/session/sending/fan-out.ts',
    text: 'unattributed += 1',
    replacement: 'unattributed += 0',
    test: {
      file: 'apps/worker/test/fan-out.test.ts',
      title: 'encrypts nothing for a message whose transaction does not begin at once',
    },
  },
  {
    name: 'a text that may have stopped an owner is claimed late',
    file: 'apps/worker/src/outbox/attempt.ts',
    text: 'isFirstAttempt && Date.parse(createdAt) >= sendsSinceMs',
    replacement: 'isFirstAttempt',
    test: {
      file: 'system-tests/interruptions.test.ts',
      title: 'fails a text to a known contact that stops five workers',
    },
  },
  {
    name: 'a late claim that Postgres refused is taken for a claim',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: 'return claims.map(({ id }) => found.get(id))\n}\n\nconst fenceIn',
    replacement:
      'return claims.map(({ id }) => found.get(id) ?? { interruptions: 0, isOptedOut: false })\n}\n\nconst fenceIn',
    test: {
      file: 'packages/db/test/message-claims.test.ts',
      title: 'answer in the order of the claims, and leave out a canceled message whose state is stored',
    },
  },
  {
    name: 'a late claim that fails early ends the process',
    file: 'apps/worker/src/outbox/attempt.ts',
    text: 'claiming.catch(() => undefined)',
    replacement: '',
    test: { file: 'apps/worker/test/late-claims.test.ts', title: 'may fail before the text is encrypted' },
  },
  {
    name: 'a release undoes the claim of an earlier owner',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: '\n      AND message.held_epoch = valid.epoch`',
    replacement: '`',
    test: {
      file: 'packages/db/test/message-claims.test.ts',
      title: 'are counted when the next owner releases a message that it has not claimed',
    },
  },
  {
    name: 'a death with a message is forgotten when the next owner dies as well',
    file: 'packages/db/src/queries/workers/shard-leases.ts',
    text: '(lease.epoch || lease.died_epochs)[1:${deathsKept}]',
    replacement: 'ARRAY[lease.epoch]',
    test: {
      file: 'packages/db/test/message-claims.test.ts',
      title: 'are counted when the next owners end before they have claimed it',
    },
  },
  {
    name: 'the death of a later owner counts for a message that it had not claimed',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: 'message.held_epoch = ANY(valid.died_epochs)',
    replacement: 'message.held_epoch <= ANY(valid.died_epochs)',
    test: {
      file: 'packages/db/test/message-claims.test.ts',
      title: 'are not counted when the owner that had claimed it was stopped, and the next one died',
    },
  },
]
