import type { Mutant } from './mutant.ts'

const ofStatus = 'packages/db/test/message-status.test.ts'
const ofWaitingMedia = 'packages/db/test/waiting-media.test.ts'
const onlyForward = {
  file: ofStatus,
  title:
    'a status only moves forward, with outcomes that are late, repeated, concurrent, from a former owner or by a wrong clock',
}

/** From the request to the row, and its status. */
export const messagesMutants: Mutant[] = [
  {
    name: 'time of a repetition judged before its key',
    file: 'apps/api/src/messages/message-intake.ts',
    text: 'if (replay) return',
    replacement: 'if (replay && !refusal) return',
    test: {
      file: 'apps/api/test/idempotency.test.ts',
      title: 'a replay is recognized after its scheduled time has passed',
    },
  },
  {
    name: 'a wait counts on events from before a lost connection',
    file: 'apps/api/src/messages/outcome-subscriptions.ts',
    text: 'lossesAtStart === countLosses()',
    replacement: 'lossesAtStart !== undefined',
    test: {
      file: 'apps/api/test/outcome-subscriptions.test.ts',
      title: 'after a lost connection, no request counts on events from before its own subscription',
    },
  },
  {
    name: 'an event that does not say what is stored ends a wait',
    file: 'apps/api/src/messages/outcome-waits.ts',
    text: 'if (told?.isStored) return',
    replacement: 'if (told) return',
    test: {
      file: 'apps/api/test/outcome-subscriptions.test.ts',
      title:
        'a further message of a sender is waited for without a statement, unless its event does not say what is stored',
    },
  },
  {
    name: 'what a former owner could not store is announced as stored',
    file: 'apps/worker/src/outbox/settlement.ts',
    text: "return result === 'recorded'",
    replacement: 'return true',
    test: {
      file: 'apps/worker/test/message-results.test.ts',
      title: 'only what is stored is announced as stored',
    },
  },
  {
    name: 'a record that a request waits for is deferred',
    file: 'apps/worker/src/outbox/settlement.ts',
    text: 'recorder.recordSent(message, isAwaited)',
    replacement: 'recorder.recordSent(message, false)',
    test: {
      file: 'apps/worker/test/message-results.test.ts',
      title: 'the record of a sent message is deferred unless the latest event had a subscriber',
    },
  },
  {
    name: 'deferred items are flushed only with one that is not deferred',
    file: 'packages/runtime/src/natural-batch.ts',
    text: 'timer ??= setTimeout(becomeDue, deferMs)',
    replacement: '',
    test: {
      file: 'packages/runtime/test/natural-batch.test.ts',
      title: 'sends deferred items when the first has waited long enough',
    },
  },
  {
    name: 'a lower status replaces a higher one',
    file: 'packages/db/src/queries/messages/message-outcomes.ts',
    text: '[greatest(least(given.rank, 3),',
    replacement: '[least(least(given.rank, 3),',
    test: onlyForward,
  },
  {
    name: 'cancel ignores the status',
    file: 'packages/db/src/queries/messages/cancel-message.ts',
    text: "AND ${isAcceptedBy(sql, 'cancel')}",
    replacement: '',
    test: onlyForward,
  },
  {
    name: 'canceled messages claimed',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: ' AND message.is_waiting\n      -- Once',
    replacement: '\n      -- Once',
    test: onlyForward,
  },
  {
    name: 'media without all their parts accepted',
    file: 'packages/db/src/queries/messages/accept-messages.ts',
    text: ' AND has_room AND is_complete',
    replacement: ' AND has_room',
    test: {
      file: ofWaitingMedia,
      title: 'media with a missing part is not accepted, and its idempotency key stays unused',
    },
  },
  {
    name: 'parts of media of another account',
    file: 'packages/db/src/queries/messages/accept-messages.ts',
    text: ' AND part.account_id = given.account_id',
    replacement: '',
    test: { file: ofWaitingMedia, title: 'parts of another account are not used' },
  },
  {
    name: 'parts of media in any order',
    file: 'packages/db/src/queries/messages/accept-messages.ts',
    text: ' ORDER BY part.position',
    replacement: ' ORDER BY part.bytes',
    test: { file: ofWaitingMedia, title: 'media is joined in the order of its parts' },
  },
  {
    name: 'escape sequence cut in two',
    file: 'apps/api/src/http/parse-json-object.ts',
    text: '(last - first) % 2 === 0',
    replacement: 'false',
    test: {
      file: 'apps/api/test/parse-json-object.test.ts',
      title: 'a long string is decoded like JSON.parse does, at every cut',
    },
  },
  {
    name: 'send_at refused by the clock of the process',
    file: 'apps/api/src/messages/send.ts',
    text: ' || isPossibleAt(await readClockMs(context.db.$client))',
    replacement: '',
    test: {
      file: 'apps/api/test/send-message.test.ts',
      title:
        'is scheduled for a time that is possible by the clock of Postgres, while that of the API is an hour fast',
      written: {
        title:
          'is scheduled for a time that is possible by the clock of Postgres, while that of the API is %s',
      },
    },
  },
  {
    name: 'idempotency key ignored',
    file: 'apps/api/src/messages/send.ts',
    text: 'findIdempotencyKey(call, input.idempotency_key)',
    replacement: 'undefined',
    test: {
      file: 'apps/api/test/idempotency.test.ts',
      title: '50 concurrent equal requests send one message',
    },
  },
  {
    name: 'payload of an idempotency key not compared',
    file: 'apps/api/src/messages/accepted-message.ts',
    text: 'if (payloadHash !== message.idempotency?.payloadHash)',
    replacement: 'if (false)',
    test: {
      file: 'apps/api/test/idempotency.test.ts',
      title: 'a different payload returns 422: {"message":"other"}',
      written: { title: 'a different payload returns 422: %j' },
    },
  },
  {
    name: 'blocked sender accepted',
    file: 'packages/db/src/queries/messages/accept-messages.ts',
    text: ' AND (away_reason IS NULL OR away_reason NOT IN (${blocking(sql)}))',
    replacement: '',
    test: {
      file: 'apps/api/test/send-message.test.ts',
      title: 'is refused with the reason and stores nothing when WhatsApp blocks the sender',
    },
  },
  {
    name: 'outcome read from Postgres although its event told it',
    file: 'apps/api/src/messages/outcome-waits.ts',
    text: 'if (told?.isStored) return { status: told.status, error: null, errorCode: null }',
    replacement: '',
    test: {
      file: 'system-tests/message-costs.test.ts',
      title:
        'a text to a known contact needs few statements, stanzas, commands of Redis and bytes in the log of Postgres',
    },
  },
  {
    name: 'a receipt lost that waited for another change of its message',
    file: 'packages/db/src/queries/messages/message-outcomes.ts',
    text: 'WHERE message.id = before.id AND message.created_at = before.created_at',
    replacement:
      "WHERE message.id = before.id AND message.created_at = before.created_at AND ${isInPartitions('message')}",
    test: {
      file: 'packages/db/test/concurrent-changes.test.ts',
      title: 'a receipt waits for another change of the message, and is not lost',
      written: { title: '%s waits for another change of the message, and is not lost' },
    },
  },
]
