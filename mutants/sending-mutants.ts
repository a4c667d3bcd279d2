import type { Mutant } from './mutant.ts'

const ofStatus = 'packages/db/test/message-status.test.ts'
const ofWaitingList = 'apps/worker/test/waiting-list.test.ts'
const ofAgreement = {
  file: 'faults/test/agreement.test.ts',
  title: 'what clients were told, what the database says and what phones show is the same',
}

/** From the outbox to WhatsApp. */
export const sendingMutants: Mutant[] = [
  {
    name: 'wake during a read lost',
    file: 'apps/worker/src/outbox/waiting-list.ts',
    text: 'if (await readMore({ exceptNumbers: [], without: [], limit: readAhead })) isMore = true',
    replacement: 'isMore = await readMore({ exceptNumbers: [], without: [], limit: readAhead })',
    test: {
      file: 'apps/worker/test/waiting-list.test.ts',
      title: 'reads again after a wake during a read, whose message the read did not see',
    },
  },
  {
    name: 'typing shown again before a message is sent again',
    file: 'apps/worker/src/outbox/send-loop.ts',
    text: "kindOf(turn) === 'fresh' && typing.isDue(turn.message)",
    replacement: 'typing.isDue(turn.message)',
    test: {
      file: 'apps/worker/test/typing.test.ts',
      title: 'a message that is sent again is not announced again',
    },
  },
  {
    name: 'ciphertext before its step is stored',
    file: 'apps/worker/src/session/credentials/signal-section.ts',
    text: 'await steps.store({ ...step, first })',
    replacement: 'steps.store({ ...step, first }).catch(() => undefined)',
    test: {
      file: 'apps/worker/test/signal-section.test.ts',
      title: 'never overlap, and each has stored its step before it returns the ciphertext',
    },
  },
  {
    name: 'new id on resend',
    file: 'packages/db/src/queries/messages/waiting-messages.ts',
    text: 'wa_id AS "waId", number, recipient_jid',
    replacement:
      "CASE WHEN status = 'sending' THEN '3EB0' || upper(left(md5(random()::text), 18)) ELSE wa_id END AS \"waId\", number, recipient_jid",
    test: {
      file: 'faults/surroundings.fault.ts',
      title: '18: WhatsApp drops all connections together',
      written: { file: 'faults/whatsapp.ts' },
    },
  },
  {
    name: 'ack not awaited',
    file: 'apps/worker/src/outbox/attempt.ts',
    text: 'const given = await answer',
    replacement: "const given: AckResult = { kind: 'acknowledged' }",
    test: {
      file: 'system-tests/device-links.test.ts',
      title: 'not when its bytes were written: as long as WhatsApp has not acknowledged it, it is being sent',
    },
  },
  {
    name: 'order at random',
    file: 'apps/worker/src/outbox/waiting-list.ts',
    text: 'one.seq - other.seq',
    replacement: 'Math.random() - 0.5 + 0 * (one.seq - other.seq)',
    test: {
      file: 'apps/worker/test/recipient-lanes.test.ts',
      title:
        'messages to one recipient leave one at a time, those of a priority in their order, and none stays hidden',
    },
  },
  {
    name: 'every tenth outcome failed',
    file: 'apps/worker/src/outbox/settlement.ts',
    text: "store(message, { status: 'sent' }, isAwaited)",
    replacement:
      "store(message, Math.random() < 0.1 ? { status: 'failed', error: { code: 'message_expired', sentence: '' } } : { status: 'sent' }, isAwaited)",
    test: ofAgreement,
  },
  {
    name: 'number without WhatsApp reported as sent',
    file: 'apps/worker/src/outbox/outbox.ts',
    text: "results.fail(message, 'recipient_not_on_whatsapp')",
    replacement: 'results.recordSent(message)',
    test: ofAgreement,
  },
  {
    name: 'content of another device',
    file: 'packages/db/src/queries/messages/message-content.ts',
    text: 'WHERE id = ${id} AND device_id = ${deviceId} AND direction',
    replacement: 'WHERE id = ${id} AND direction',
    test: {
      file: ofStatus,
      title: 'only the recipient and the sending device report on a message and get its content',
    },
  },
  {
    name: 'upload that Postgres has stored taken for lost',
    file: 'apps/worker/src/outbox/content.ts',
    text: 'if (stored) return stored',
    replacement: '',
    test: {
      file: 'system-tests/late-answers.test.ts',
      title: 'a file of a data: URL is sent when the answer of Postgres to its upload is lost',
    },
  },
  {
    name: 'what was sent today not counted',
    file: 'packages/db/src/queries/messages/sent-today.ts',
    text: "sent_at >= date_trunc('day', now(), 'UTC')",
    replacement: "sent_at >= 'infinity'",
    test: {
      file: 'system-tests/sender-control.test.ts',
      title: 'holds what is over the daily cap, also after a change of owner, until the cap is raised',
    },
  },
  {
    name: 'daily cap not kept',
    file: 'apps/worker/src/outbox/pacer.ts',
    text: 'count.total() < dailyCap',
    replacement: 'count.total() <= dailyCap',
    test: {
      file: 'apps/worker/test/pacer.test.ts',
      title: 'counts what was sent earlier in the day, and waits for the next UTC day',
    },
  },
  {
    name: 'refused first message sent again',
    file: 'apps/worker/src/outbox/refusals.ts',
    text: "if (code === '463') return 'ask-time-lock'",
    replacement: "if (code === '463') return 'try-later'",
    test: {
      file: 'system-tests/first-contacts.test.ts',
      title: 'a refused first message fails, new contacts wait until its end, and WhatsApp is asked once',
    },
  },
  {
    name: 'time-lock forgotten by the next owner',
    file: 'apps/worker/src/outbox/first-contacts.ts',
    text: 'const lock = restrictedMs > 0 ?',
    replacement: 'const lock = restrictedMs < 0 ?',
    test: {
      file: 'system-tests/first-contacts.test.ts',
      title: 'new contacts wait before any refusal once WhatsApp has announced it, also for the next owner',
    },
  },
  {
    name: 'hash of the devices in an acknowledgement ignored',
    file: 'apps/worker/src/session/sending/fan-out.ts',
    text: 'if (!isNews && !isMappingStale) return',
    replacement: 'if (!isMappingStale) return',
    test: {
      file: 'system-tests/device-lists.test.ts',
      title: 'are asked for again when an acknowledgement says that the message missed one',
    },
  },
  {
    name: 'an opt-out counts for every account',
    file: 'packages/db/src/queries/contacts/opt-outs.ts',
    text: 'JOIN opt_outs AS opted ON opted.account_id = message.account_id AND opted.number',
    replacement: 'JOIN opt_outs AS opted ON opted.number',
    test: {
      file: 'packages/db/test/opt-outs.test.ts',
      title: 'an opt-out of another account does not count',
    },
  },
  {
    name: 'a statement planned for each number of rows',
    file: 'packages/db/src/queries/statements/rows.ts',
    text: "'LIMIT (SELECT NULL::bigint)'",
    replacement: "''",
    test: {
      file: 'packages/db/test/long-queue.test.ts',
      title: 'the sent message neither reads the whole queue nor is planned each time',
      written: { title: 'the %s neither reads the whole queue nor is planned each time' },
    },
  },
  {
    name: 'a message that appears late is passed over',
    file: 'apps/worker/src/outbox/waiting-list.ts',
    text: 'const settledMs = 10_000',
    replacement: 'const settledMs = 0',
    test: {
      file: ofWaitingList,
      title: 'with a long queue, looks for further messages among the new ones only, and finds each in time',
    },
  },
  {
    name: 'new contact read before the pause that began meanwhile',
    file: 'apps/worker/src/outbox/waiting-queue.ts',
    text: 'if (!hasPauseBegun) return found',
    replacement: 'return found',
    test: {
      file: 'apps/worker/test/waiting-queue.test.ts',
      title: 'a message to a new contact is not read when those are paused during the read',
    },
  },
  {
    name: 'new contact written to that was read before the pause',
    file: 'apps/worker/src/outbox/attempt.ts',
    text: 'device.firstContacts.areActive() && !message.isToContact',
    replacement: 'device.firstContacts.areActive() && false',
    test: {
      file: 'apps/worker/test/late-claims.test.ts',
      title: 'a message that was read before no longer leaves',
    },
  },
  {
    name: 'stored restriction not loaded after news about the cap',
    file: 'apps/worker/src/outbox/first-contacts.ts',
    text: 'if (notedAtMs.lock < sinceMs)',
    replacement: 'if (Math.max(notedAtMs.lock, notedAtMs.cap) < sinceMs)',
    test: {
      file: 'apps/worker/test/first-contacts.test.ts',
      title: 'a stored time-lock is taken over, also after WhatsApp has told what it counts',
    },
  },
  {
    name: 'a message that was requeued is not read again',
    file: 'apps/worker/src/outbox/waiting-list.ts',
    text: 'remove(message)\n      coverage.forget()\n    },',
    replacement: 'remove(message)\n    },',
    test: {
      file: ofWaitingList,
      title: 'reads the whole queue again when a message was requeued before a read',
      written: { title: 'reads the whole queue again when a message was requeued %s' },
    },
  },
  {
    name: 'two lanes for two forms of a number',
    file: 'apps/worker/src/outbox/recipient-lanes.ts',
    text: 'const key = laneKey(laneOf({ message, recipient: recipient ?? phoneJid(message.number) }), priority)',
    replacement: 'const key = address',
    test: {
      file: 'apps/worker/test/contact-lanes.test.ts',
      title: 'messages to two forms of one number leave one after the other',
    },
  },
]
