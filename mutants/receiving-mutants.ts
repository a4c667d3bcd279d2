import type { Mutant } from './mutant.ts'

const ofAgreement = {
  file: 'faults/test/agreement.test.ts',
  title: 'what clients were told, what the database says and what phones show is the same',
}
const ofKill = {
  file: 'system-tests/received.test.ts',
  title: 'loses nothing when the owner is killed while messages and receipts wait to be stored',
}
const ofFrozenDatabase = {
  file: 'system-tests/received.test.ts',
  title: 'loses neither messages nor receipts while Postgres does not answer for longer than a lease',
}
/** Receipts and received messages. */
export const receivingMutants: Mutant[] = [
  {
    name: 'the secret of a poll from the own phone is not kept',
    file: 'apps/worker/src/session/receiving/kept-secret.ts',
    text: "fromMe ? 'me' : accountJid(remoteJid)",
    replacement: 'accountJid(remoteJid)',
    test: {
      file: 'system-tests/received-kinds.test.ts',
      title: 'a vote says which options were chosen, in a poll of the contact and in one of the own phone',
    },
  },
  {
    name: 'the secret of a message is looked up without its author',
    file: 'apps/worker/src/session/receiving/message-secrets.ts',
    text: 'secretId(author, waId)',
    replacement: "secretId('', waId)",
    test: {
      file: 'system-tests/unreadable-messages.test.ts',
      title: 'an encrypted edit replaces the text, also when the worker was restarted meanwhile',
    },
  },
  {
    name: 'an opt-out word of a message that is delivered again counts again',
    file: 'packages/db/src/queries/contacts/consent-steps.ts',
    text: 'WHERE id IN (SELECT id FROM stored) AND consent',
    replacement: 'WHERE consent',
    test: {
      file: 'packages/db/test/received-consents.test.ts',
      title: 'a word of a message that WhatsApp delivers again changes nothing',
    },
  },
  {
    name: 'a former owner marks messages as read',
    file: 'packages/db/src/queries/messages/read-requests.ts',
    text: 'DELETE FROM read_requests USING fence',
    replacement: 'DELETE FROM read_requests',
    test: {
      file: 'packages/db/test/read-requests.test.ts',
      title: 'a former owner ends no request and marks nothing as read',
    },
  },
  {
    name: 'an event of each request to mark a message as read',
    file: 'packages/db/src/queries/messages/read-requests.ts',
    text: '::uuid[]) AND messages.read_at IS NULL',
    replacement: '::uuid[])',
    test: {
      file: 'packages/db/test/read-requests.test.ts',
      title: 'a message that two requests mark as read has one event of it',
    },
  },
  {
    name: 'messages of other accounts marked as read',
    file: 'packages/db/src/queries/messages/read-requests.ts',
    text: "message.account_id = ${accountId} AND message.direction = 'in'\n    ),",
    replacement: "message.direction = 'in'\n    ),",
    test: {
      file: 'apps/api/test/mark-read.test.ts',
      title: 'a message of another account, a sent one and an unknown one look alike',
    },
  },
  {
    name: 'every second receipt dropped',
    file: 'apps/worker/src/session/receiving/receipts.ts',
    text: 'if (!kind)',
    replacement: 'if (!kind || Math.random() < 0.5)',
    test: ofAgreement,
  },
  {
    name: 'receipt acknowledged before it is stored',
    file: 'apps/worker/src/session/receiving/receipts.ts',
    text: 'Promise.allSettled([stored, passed])',
    replacement: 'Promise.allSettled([passed, passed])',
    test: ofFrozenDatabase,
  },
  {
    name: 'session changed by a failed decryption',
    file: 'apps/worker/src/preload.ts',
    text: "import './preload/intact-sessions.ts'\n",
    replacement: '',
    test: { file: 'apps/worker/test/preload.test.ts', title: 'stay intact when both sides write first' },
  },
  {
    name: 'receipt of a stranger taken for an answer',
    file: 'apps/worker/src/outbox/in-flight.ts',
    text: ' || !isBelievable(outcome, message.addresses())',
    replacement: '',
    test: {
      file: 'apps/worker/test/in-flight.test.ts',
      title: 'ignores receipts of anybody but the recipient',
    },
  },
  {
    name: 'received message acknowledged before it is stored',
    file: 'apps/worker/src/session/credentials/signal-steps.ts',
    text: 'await Promise.all(sound.map(({ first }) => first?.()))',
    replacement: 'Promise.all(sound.map(({ first }) => first?.())).catch(() => undefined)',
    test: ofKill,
  },
  {
    name: 'received messages not stored',
    file: 'apps/worker/src/session/receiving/received.ts',
    text: 'if (!source || !message) return undefined',
    replacement: 'if (source || !message) return undefined',
    test: ofAgreement,
  },
  {
    name: 'receipt forgotten with a claim that Postgres lost',
    file: 'apps/worker/src/session/receiving/receipts.ts',
    text: 'sentRecipients.find(waId) ?? null',
    replacement: 'null',
    test: {
      file: 'system-tests/receipts.test.ts',
      title: 'believes the recipient of a message also when a crash of Postgres has undone its claim',
    },
  },
  {
    name: 'more of what waited requested than can be stored',
    file: 'apps/worker/src/session/receiving/unstored-stanzas.ts',
    text: 'unstored.size < requestBelow',
    replacement: 'true',
    test: {
      file: 'system-tests/offline-queue.test.ts',
      title: 'takes hundreds of messages and receipts that waited, in parts of 100, and sends meanwhile',
      written: { title: 'takes hundreds of messages and receipts that waited, %s, and sends meanwhile' },
    },
  },
  {
    name: 'messages that waited overtaken by later ones',
    file: 'apps/worker/src/session/receiving/inbound.ts',
    text: 'delete node.attrs.offline\n',
    replacement: '\n',
    test: {
      file: 'system-tests/received.test.ts',
      title: 'are stored in their order',
    },
  },
  {
    name: 'messages of a connection that has ended stored before those that it skipped',
    file: 'apps/worker/src/session/receiving/inbound.ts',
    text: 'if (!sock.ws.isOpen) return undefined',
    replacement: 'if (!sock.ws.isOpen && Math.random() < 0.5) return undefined',
    test: {
      file: 'system-tests/received.test.ts',
      title: 'are stored in their order when the connection ends meanwhile',
    },
  },
  {
    name: 'whole week searched for a received message',
    file: 'packages/db/src/queries/messages/received-messages.ts',
    text: '        OFFSET 0)',
    replacement: '        )',
    test: {
      file: 'packages/db/test/young-partition.test.ts',
      title: 'a received message reads little in a week that has just begun',
      written: { title: '%s reads little in a week that has just begun' },
    },
  },
  {
    name: 'LID shown as a number',
    file: 'apps/worker/src/session/receiving/received-source.ts',
    text: 'number: phone?.user ?? null',
    replacement: 'number: (phone ?? given[0])?.user ?? null',
    test: {
      file: 'apps/worker/test/received.test.ts',
      title: 'reads the addresses of a message from a LID alone',
      written: { title: 'reads the addresses of a message from %s' },
    },
  },
  {
    name: 'received messages stored as often as they come',
    file: 'packages/db/src/queries/messages/received-messages.ts',
    text: "sql`known.direction = 'in'`",
    replacement: "sql`known.direction = 'out'`",
    test: {
      file: 'packages/db/test/contact-addresses.test.ts',
      title: 'is stored once when it comes again, first with its number only',
      written: { title: 'is stored once when it comes again, %s' },
    },
  },
]
