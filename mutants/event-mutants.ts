import type { Mutant } from './mutant.ts'

const feed = 'packages/db/src/queries/events/event-feed.ts'
const changes = 'packages/db/src/queries/messages/message-changes.ts'
const ofChanges = 'packages/db/test/message-changes.test.ts'
const ofFeed = 'packages/db/test/event-feed.test.ts'
const epochs = 'packages/db/migrations/0033_event_epochs.sql'
const ofClock = 'packages/db/test/event-clock.test.ts'

/** From the change to its reader. */
export const eventMutants: Mutant[] = [
  {
    name: 'events read before earlier transactions have ended',
    file: feed,
    text: 'OR tx < (SELECT tx FROM horizon)',
    replacement: 'OR true',
    test: {
      file: ofFeed,
      title: 'an event that is inserted first and committed last is not skipped',
    },
  },
  {
    name: 'events of all accounts',
    file: feed,
    text: 'account_id = (SELECT account_id FROM given) AND ',
    replacement: '',
    test: {
      file: 'apps/api/test/events.test.ts',
      title: 'an account reads its own events only, also with the cursor of another',
    },
  },
  {
    name: 'a filtered page moves to the end',
    file: feed,
    text: 'next: toEvent(lastScanned).position',
    replacement: 'next: horizonOf(rows[0], after)',
    test: {
      file: ofFeed,
      title:
        'a page reads a limited number of events that are not wanted, and the next ones find what follows',
    },
  },
  {
    name: 'a repeated receipt has another event',
    file: 'packages/db/src/queries/messages/message-outcomes.ts',
    text: 'before.delivered_at IS NULL AND ',
    replacement: '',
    test: {
      file: 'packages/db/test/message-status.test.ts',
      title:
        'a status only moves forward, with outcomes that are late, repeated, concurrent, from a former owner or by a wrong clock',
    },
  },
  {
    name: 'a message whose content follows counts twice',
    file: 'packages/db/src/queries/statements/event-rows.ts',
    text: 'id IN (SELECT id FROM ${inserted}) AS is_counted',
    replacement: 'true AS is_counted',
    test: {
      file: 'packages/db/test/message-counts.test.ts',
      title: 'a received message counts once, also if it is delivered again or its content follows',
    },
  },
  {
    name: 'what happened earlier counts today',
    file: 'packages/db/src/queries/statements/message-counts.ts',
    text: 'least(at, now())',
    replacement: 'now()',
    test: {
      file: 'packages/db/test/message-counts.test.ts',
      title: 'what happens on different days counts on each of them, and not in the future',
    },
  },
  {
    name: 'messages that expire are not counted',
    file: 'packages/db/src/queries/statements/event-rows.ts',
    text: 'true AS is_counted\n    FROM ${failed}',
    replacement: 'false AS is_counted\n    FROM ${failed}',
    test: {
      file: 'packages/db/test/message-model.test.ts',
      title:
        'the messages of a sender agree with a model of sends, schedules, cancellations, links, logouts and owners',
    },
  },
  {
    name: 'counts are locked in another order',
    file: 'packages/db/src/queries/statements/message-counts.ts',
    text: ' ORDER BY 1, 2, 3, 4',
    replacement: ' ORDER BY 1, 2, 3 DESC, 4',
    test: {
      file: 'packages/db/test/message-counts.test.ts',
      title: 'a statement locks counts in the order of their key, so that no two of them wait for each other',
    },
  },
  {
    name: 'a clock that goes back unnoticed',
    file: epochs,
    text: 'is_steady AND earlier >= present.since AND (',
    replacement: 'is_steady AND (',
    test: {
      file: ofClock,
      title: 'no reader skips an event if the clock was ahead by 2 days',
      written: { title: 'no reader skips an event if the clock was ahead by %i days' },
    },
  },
  {
    name: 'events of next week are not looked for',
    file: feed,
    text: ' OR horizon.until > ${until} THEN',
    replacement: ' THEN',
    test: {
      file: ofClock,
      title: 'no reader skips an event if the clock was ahead by 20 days',
      written: { title: 'no reader skips an event if the clock was ahead by %i days' },
    },
  },
  {
    name: 'a cursor with the time of a clock that is ahead',
    file: feed,
    text: 'least(now(), horizon.present_until)',
    replacement: 'now()',
    test: {
      file: ofClock,
      title: 'a position that was read while the clock was ahead, and nothing recorded, skips nothing',
    },
  },
  {
    name: 'a dispatcher that looks only at usual times',
    file: 'packages/db/src/queries/statements/recorded-times.ts',
    text: "WHERE since < to_timestamp(${seconds}) - interval '1 day' OR until > now() + interval '1 day'",
    replacement: 'WHERE false',
    test: {
      file: ofClock,
      title: 'no reader skips an event if the clock was ahead by 20 days',
      written: { title: 'no reader skips an event if the clock was ahead by %i days' },
    },
  },
  {
    name: 'a time before this run of Postgres',
    file: 'packages/db/src/queries/events/event-time.ts',
    text: ' AND epoch <= extract(epoch FROM ${at})',
    replacement: '',
    test: {
      file: 'packages/db/test/history-pages.test.ts',
      title: 'changes are found from any time on, with those of the ten seconds before at most',
    },
  },
  {
    name: 'a deletion by a stranger',
    file: 'packages/db/src/queries/messages/known-messages.ts',
    text: '      AND ${isFrom(sql, { number: sql`given.number`, contactJid: sql`given.contact_jid` })}\n    LIMIT',
    replacement: '    LIMIT',
    test: {
      file: ofChanges,
      title: 'a stranger, and the recipient of a message, can neither edit nor delete it',
    },
  },
  {
    name: 'a deletion of a message of the sender',
    file: changes,
    text: "(target_row.direction = 'out') = (given.from_me = 1)",
    replacement: 'true',
    test: {
      file: ofChanges,
      title: 'a stranger, and the recipient of a message, can neither edit nor delete it',
    },
  },
  {
    name: 'a reaction stored at each delivery',
    file: changes,
    text: "known.data ->> 'waId' = given.wa_id",
    replacement: 'false',
    test: {
      file: ofChanges,
      title: 'a change that WhatsApp delivers again has one event, also with another address of its contact',
    },
  },
  {
    name: 'a reply to a message of another account',
    file: 'packages/db/src/queries/messages/quotable-message.ts',
    text: 'account_id + 0 = ${accountId} AND sender = ${sender} AND ${isWanted}',
    replacement: 'sender = ${sender} AND ${isWanted}',
    test: {
      file: 'apps/api/test/replies.test.ts',
      title: 'a message quotes none of another chat, sender or account, and none that never left',
    },
  },
  {
    name: 'one reader for the streams of all accounts',
    file: 'apps/api/src/event-streams/event-streams.ts',
    text: 'const known = readers.get(accountId)',
    replacement: 'const [known] = readers.values()',
    test: {
      file: 'apps/api/test/events-stream.test.ts',
      title: 'streams of different accounts show their own events only',
    },
  },
  {
    name: 'a stream that resumes at the present',
    file: 'apps/api/src/operations/events-stream.ts',
    text: 'findLastEvent(request.lastEventIdHeader) ?? after',
    replacement: 'after',
    test: {
      file: 'apps/api/test/events-stream.test.ts',
      title: 'a client that resumes after a restart of the API gets every event once',
    },
  },
  {
    name: 'a token that shows all types',
    file: 'apps/api/src/operations/events-stream.ts',
    text: 'types ?? token?.types ?? undefined',
    replacement: 'types',
    test: {
      file: 'apps/api/test/stream-tokens.test.ts',
      title: 'a token shows no more than what it was created for',
    },
  },
  {
    name: 'events skipped that came before a read',
    file: 'apps/api/src/event-streams/live-reader.ts',
    text: 'listener.cursor >= lowest && ',
    replacement: '',
    test: {
      file: 'apps/api/test/live-reader.test.ts',
      title: 'a stream that reaches the present during a read misses no event before that read',
    },
  },
  {
    name: 'a stream reads once after a hint',
    file: 'apps/api/src/event-streams/live-reader.ts',
    text: 'againAfterMs: untilReadableMs',
    replacement: 'againAfterMs: []',
    test: {
      file: 'apps/api/test/live-reader.test.ts',
      title: 'an event that becomes readable only after its hint is sent without waiting for the next poll',
    },
  },
]
