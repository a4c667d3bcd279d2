import type { Mutant } from './mutant.ts'

/** What is done on the phone of an account. */
export const phoneMutants: Mutant[] = [
  {
    name: 'what is done on the phone kept although it is to be left out',
    file: 'apps/worker/src/device/device-session.ts',
    text: 'const records = context.config.recordsPhoneActivity',
    replacement: 'const records = true',
    test: {
      file: 'system-tests/own-phone.test.ts',
      title: 'what is done on the phone changes and tells nothing, and contacts are heard',
    },
  },
  {
    name: 'a reaction of the owner to a message of the contact is about one of the owner',
    file: 'apps/worker/src/session/receiving/received.ts',
    text: 'fromMe: isOwn === (key.fromMe ?? false)',
    replacement: 'fromMe: !key.fromMe',
    test: {
      file: 'system-tests/own-phone.test.ts',
      title: 'reactions and votes of the owner are events as those of the contact are, by the account',
    },
  },
  {
    name: 'a receipt of a stranger for a message of the phone',
    file: 'packages/db/src/queries/messages/phone-receipts.ts',
    text: "ARRAY[known.recipient_jid, known.number || '@s.whatsapp.net'] && ARRAY[jid, other_jid]",
    replacement: 'true',
    test: {
      file: 'packages/db/test/phone-receipts.test.ts',
      title: 'a receipt of another contact, of a received message and of a former owner changes nothing',
    },
  },
  {
    name: 'a receipt that overtakes its message of the phone is lost',
    file: 'apps/worker/src/session/receiving/receipts.ts',
    text: '    await earlier\n    const rows',
    replacement: '    const rows',
    test: {
      file: 'system-tests/own-phone.test.ts',
      title: 'what happened on the phone while the worker was away has its receipts and is read',
    },
  },
  {
    name: 'a message that could not be decrypted is not noted',
    file: 'apps/worker/src/session/receiving/undecryptable.ts',
    text: '      wait(note, waitMs)\n      await writes.add(undefined)',
    replacement: '      wait(note, waitMs)',
    test: {
      file: 'system-tests/killed-amid-retries.test.ts',
      title:
        'a message that could not be decrypted leaves a trace when its worker is killed and nothing comes again',
    },
  },
  {
    name: 'a message that was decrypted in another session is reported as well',
    file: 'apps/worker/src/session/receiving/undecryptable.ts',
    text: '      reported.delete(waId)\n      forget(waId)',
    replacement: '      reported.delete(waId)',
    test: {
      file: 'apps/worker/test/undecryptable.test.ts',
      title: 'after the end of a session the next one reports what is due, and takes what arrives meanwhile',
    },
  },
]
