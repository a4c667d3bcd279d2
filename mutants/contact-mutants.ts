import type { Mutant } from './mutant.ts'

export const contactMutants: Mutant[] = [
  {
    name: 'two lanes for a number and its LID',
    file: 'apps/worker/src/outbox/recipient-lanes.ts',
    text: 'return number === null ? laneOfAddress(recipient) : laneOfAddress(phoneJid(number))',
    replacement: 'return laneOfAddress(recipient)',
    test: {
      file: 'apps/worker/test/contact-lanes.test.ts',
      title: 'messages to a number and to its LID are in one lane, each to its own address',
    },
  },
  {
    name: 'a lane that becomes another one while messages are on the wire is free',
    file: 'apps/worker/src/outbox/message-hands.ts',
    text: 'sending.add(laneOf(turn))',
    replacement: 'sending.add(turn.recipient)',
    test: {
      file: 'apps/worker/test/contact-lanes.test.ts',
      title: 'when the number is learnt while messages to both are on the wire, the next one waits for both',
    },
  },
  {
    name: 'a message to a LID overtakes one to its number that is still to be looked up',
    file: 'apps/worker/src/outbox/recipient-lanes.ts',
    text: 'recipient: recipient ?? phoneJid(message.number)',
    replacement: 'recipient: recipient ?? address',
    test: {
      file: 'apps/worker/test/contact-lanes.test.ts',
      title: 'a message to a LID does not overtake one to its number that is still to be looked up',
    },
  },
  {
    name: 'messages to one LID with different numbers are in different lanes',
    file: 'apps/worker/src/outbox/waiting-queue.ts',
    text: "known.get(message.recipientJid ?? '') ?? message.number",
    replacement: 'message.number',
    test: {
      file: 'apps/worker/test/contact-lanes.test.ts',
      title:
        'all messages to one LID that are read have the number of the latest, and earlier reads hear of it',
    },
  },
  {
    name: 'messages whose number is learnt are locked in another order than by receipts',
    file: 'packages/db/src/queries/contacts/learn-contacts.ts',
    text: 'ORDER BY message.id FOR NO KEY UPDATE OF message',
    replacement: 'ORDER BY message.created_at DESC FOR NO KEY UPDATE OF message',
    test: {
      file: 'packages/db/test/known-contacts.test.ts',
      title: 'learning it and the receipts of its messages wait for each other',
    },
  },
  {
    name: 'an opt-out of the number ignored for a message under its LID',
    file: 'packages/db/src/queries/contacts/opt-outs.ts',
    text: 'AND known.lid_jid = message.recipient_jid',
    replacement: "AND known.lid_jid = message.recipient_jid || '@none'",
    test: {
      file: 'packages/db/test/known-contacts.test.ts',
      title: 'an opt-out of the number counts for a message that was stored under the LID meanwhile',
    },
  },
  {
    name: 'an opt-out of a LID lost with the next number of the LID',
    file: 'packages/db/src/queries/contacts/joined-consents.ts',
    text: '(VALUES (lid_jid), (number)) AS keys (key)',
    replacement: '(VALUES (lid_jid)) AS keys (key)',
    test: {
      file: 'packages/db/test/joined-consents.test.ts',
      title: '-a a=p a=q',
    },
  },
  {
    name: 'an opt-in of another holder of a number ends the opt-out of the former one',
    file: 'packages/db/src/queries/contacts/consent-steps.ts',
    text: 'opt_outs.origin = member AND (is_asked OR is_lid)',
    replacement: 'opt_outs.origin = member',
    test: { file: 'packages/db/test/joined-consents.test.ts', title: '/p a=p b=p +b' },
  },
  {
    name: 'an opt-in forgotten when its number turns out to belong to a LID',
    file: 'packages/db/src/queries/contacts/joined-consents.ts',
    text: 'opted_in.at > asked.at IS TRUE',
    replacement: 'false',
    test: { file: 'packages/db/test/joined-consents.test.ts', title: '-a +p a=p' },
  },
  {
    name: 'the number of a former LID believed',
    file: 'apps/worker/src/session/credentials/lid-mappings.ts',
    text: "(number && reverseId(forward[number] ?? '') === id)",
    replacement: 'number',
    test: {
      file: 'apps/worker/test/lid-mappings.test.ts',
      title: 'what an earlier version has left of a former LID is not believed, by any reader',
    },
  },
  {
    name: 'a pair not stored again after its number was told for another LID',
    file: 'apps/worker/src/session/contacts/device-contacts.ts',
    text: 'return isHeld ? known : undefined',
    replacement: 'return known',
    test: {
      file: 'apps/worker/test/device-contacts.test.ts',
      title: 'a pair is stored once a day, and again when the number was told for another LID meanwhile',
    },
  },
  {
    name: 'room in the budget not announced when two contacts turn out to be one',
    file: 'apps/worker/src/outbox/contact-budget.ts',
    text: 'if (counted.delete(subscriberOf(from))) counted.add(subscriberOf(to))\n      })',
    replacement: '})\n      if (counted.delete(subscriberOf(from))) counted.add(subscriberOf(to))',
    test: {
      file: 'apps/worker/test/contact-budget.test.ts',
      title: 'has room again when two contacts turn out to be one, which those that wait are told',
    },
  },
  {
    name: 'a receipt from the number of a LID ignored',
    file: 'apps/worker/src/outbox/recipient-lanes.ts',
    text: '[recipient, ...phoneForms(number).map(phoneJid)]',
    replacement: '[recipient]',
    test: {
      file: 'apps/worker/test/in-flight.test.ts',
      title:
        'counts a receipt from the number of a LID, also when that was learnt meanwhile, and none of a stranger',
    },
  },
  {
    name: 'import of opt-outs for other accounts, too',
    file: 'packages/db/src/queries/contacts/opt-outs.ts',
    text: 'WHERE account_id = ${accountId} ORDER BY account_id, opt_outs.number',
    replacement: 'ORDER BY account_id, opt_outs.number',
    test: {
      file: 'apps/api/test/opt-outs.test.ts',
      title: 'names its source for its own account alone',
    },
  },
]
