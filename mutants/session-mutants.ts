import type { Mutant } from './mutant.ts'

const ofRecord = 'apps/worker/test/session-record.test.ts'
const ofUnawaited = 'apps/worker/test/unawaited-sends.test.ts'

/** How Signal sessions are stored, and what messages are encrypted with. */
export const sessionMutants: Mutant[] = [
  {
    name: 'steps of one session opened beside the frame of another',
    file: 'apps/worker/src/session/credentials/vault.ts',
    text: 'frameBox.subarray(nonceBytes, boxMin)',
    replacement: 'frameBox.subarray(0, 0)',
    test: {
      file: 'apps/worker/test/vault.test.ts',
      title: 'refuses a value in two parts that was moved, changed or put together from two others',
    },
  },
  {
    name: 'nonce of a sealed value used again',
    file: 'apps/worker/src/session/credentials/vault.ts',
    text: 'nonces = nonces.subarray(nonceBytes)',
    replacement: 'nonces = nonces.subarray(0)',
    test: { file: 'apps/worker/test/vault.test.ts', title: 'never uses a nonce twice' },
  },
  {
    name: 'frame sealed again with each message',
    file: 'apps/worker/src/session/credentials/vault.ts',
    text: 'const isKnown = known?.plain === plain',
    replacement: 'const isKnown = known?.plain === plain && plain.length < 0',
    test: {
      file: ofRecord,
      title: 'a further message changes the end of the stored session only, an answer all of it',
    },
  },
  {
    name: 'frame of another master key written again',
    file: 'apps/worker/src/session/credentials/vault.ts',
    text: 'known: isCurrent ? known : undefined',
    replacement: 'known',
    test: {
      file: 'apps/worker/test/vault.test.ts',
      title: 'seals values of either form again with the current master key',
    },
  },
  {
    name: 'keys of late messages dropped with their chain',
    file: 'apps/worker/src/session/credentials/bounded-session.ts',
    text: ' && Object.keys(messageKeys).length === 0',
    replacement: '',
    test: {
      file: ofRecord,
      title:
        'a long conversation does not make the session longer, and messages of its beginning can still arrive',
    },
  },
  {
    name: 'step stored that builds on one that could not be stored',
    file: 'apps/worker/src/session/credentials/signal-steps.ts',
    text: 'failuresBefore === failures',
    replacement: 'failuresBefore <= failures',
    test: {
      file: 'apps/worker/test/signal-section.test.ts',
      title: 'store no step that builds on one that could not be stored',
    },
  },
  {
    name: 'undecryptable message of a group waited for permanently',
    file: 'apps/worker/src/session/receiving/inbound.ts',
    text: '(error) => recover(given.msg, error),',
    replacement: '',
    test: {
      file: 'apps/worker/test/inbound.test.ts',
      title: 'a message of a group that cannot be decrypted is no longer waited for',
    },
  },
  {
    name: 'sender key of any name stored',
    file: 'apps/worker/src/session/credentials/signal-section.ts',
    text: "if (!groupId.test(given.item.groupId ?? ''))",
    replacement: 'if (!given.item.groupId)',
    test: {
      file: 'apps/worker/test/signal-section.test.ts',
      title: 'a sender key is stored for a group or a broadcast list only',
    },
  },
  {
    name: 'bad key of one device refused to all',
    file: 'apps/worker/src/statements/statement-batch.ts',
    text: 'isOfOneItem: isRefusedContent',
    replacement: 'isOfOneItem: () => isRefusedContent(undefined)',
    test: {
      file: 'apps/worker/test/device-auth.test.ts',
      title: 'what Postgres refuses of one device does not affect the others',
    },
  },
  {
    name: 'keys of messages that never arrive kept without a limit',
    file: 'apps/worker/src/session/credentials/bounded-session.ts',
    text: 'withoutSpentChains(withoutOldKeys(record))',
    replacement: 'withoutSpentChains(record)',
    test: {
      file: ofRecord,
      title: 'keys of messages that a contact never sends do not make the session longer and longer',
    },
  },
  {
    name: 'unknown part of a session dropped',
    file: 'apps/worker/src/session/credentials/vault.ts',
    text: ' || isEncodedBy(parts, record)',
    replacement: ' || isEncodedBy(parts, decodeSession(parts))',
    test: { file: ofRecord, title: 'a session of a shape that is not known is stored as it is' },
  },
  {
    name: 'Signal format of workers that run ignored',
    file: 'packages/db/src/queries/credentials/signal-format.ts',
    text: ' WHERE NOT EXISTS (SELECT FROM older)',
    replacement: '',
    test: {
      file: 'packages/db/test/installation.test.ts',
      title: 'the format of Signal sessions does not change while workers run that cannot read it',
    },
  },
  {
    name: 'pre-keys of an ended session stored',
    file: 'apps/worker/src/session/credentials/auth-store.ts',
    text: 'isReleased = true',
    replacement: 'isReleased = false',
    test: {
      file: 'apps/worker/test/auth-store.test.ts',
      title: 'pre-keys that are made after the end of the session are not stored, and used ones are deleted',
    },
  },
  {
    name: 'the earlier of two writes of a row in one batch stored',
    file: 'packages/db/src/queries/credentials/device-auth.ts',
    text: 'for (const { fence, deviceId, rows: own } of writes)',
    replacement: 'for (const { fence, deviceId, rows: own } of writes.toReversed())',
    test: {
      file: 'packages/db/test/message-claims.test.ts',
      title: 'leave the later state when one batch has two of one contact',
    },
  },
  {
    name: 'a value whose write failed stays cached',
    file: 'apps/worker/src/session/credentials/auth-store.ts',
    text: 'for (const { type, id } of entries) cache.delete(authContext(type, id))\n      throw error',
    replacement: 'throw error',
    test: {
      file: 'apps/worker/test/auth-store.test.ts',
      title: 'what is stored is read again after a write that failed, which may have been stored',
    },
  },
  {
    name: 'another message secret after the master key has changed',
    file: 'apps/worker/src/outbox/content.ts',
    text: 'messageSecretOf(creds, message.id)',
    replacement: 'messageSecretOf(creds, message.id + vault.seal(Buffer.alloc(1), message.id).toString())',
    test: {
      file: 'apps/worker/test/message-content.test.ts',
      title: 'the secret of a text is the same for every attempt, also after the master key has changed',
    },
  },
  {
    name: 'text composed without its body',
    file: 'apps/worker/src/session/sending/compose-content.ts',
    text: "textContent(body ?? '', secret)",
    replacement: "textContent('', secret)",
    test: {
      file: 'system-tests/sent-kinds.test.ts',
      title: 'text goes from HTTP to a phone, the history and events',
      written: { title: '%s goes from HTTP to a phone, the history and events' },
    },
  },
  {
    name: 'one message secret for all texts',
    file: 'apps/worker/src/session/sending/compose-content.ts',
    text: '`wagate message secret ${messageId}`',
    replacement: '`wagate message secret`',
    test: {
      file: 'apps/worker/test/message-content.test.ts',
      title: 'no other message and no other link has it',
    },
  },
  {
    name: 'sends that nobody awaits left to fail',
    file: 'apps/worker/src/session/connection/socket.ts',
    text: '  expectClosing(sock)\n',
    replacement: '',
    test: { file: ofUnawaited, title: 'nor in a socket of the worker' },
  },
  {
    name: 'bugs in listeners of Baileys ignored',
    file: 'apps/worker/src/session/sending/unawaited-sends.ts',
    text: 'if (!isClosing(error, ws)) throw error',
    replacement: 'void isClosing(error, ws)',
    test: { file: ofUnawaited, title: 'a bug in a listener of Baileys still is' },
  },
  {
    name: 'question without an answer reported as a bug',
    file: 'apps/worker/src/session/sending/unawaited-sends.ts',
    text: "if (typeof error === 'number') return !isOpen",
    replacement: '',
    test: {
      file: ofUnawaited,
      title: 'nor is a question that a closing connection leaves without an answer',
    },
  },
]
