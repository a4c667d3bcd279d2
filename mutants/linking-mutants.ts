import type { Mutant } from './mutant.ts'

const ofLinking = 'apps/worker/test/linking.test.ts'
const ofPasskey = 'apps/worker/test/passkey.test.ts'

/** The secret with which a phone proves a link. */
export const linkingMutants: Mutant[] = [
  {
    name: 'QR codes with the first secret',
    file: 'apps/worker/src/session/linking/qr-codes.ts',
    text: '(index === 3 ? secret : part)',
    replacement: '(index === 4 ? secret : part)',
    test: {
      file: ofLinking,
      title: 'a QR code has the secret of the moment, not the one that Baileys began with',
    },
  },
  {
    name: 'retired secret acknowledged before the new one is stored',
    file: 'apps/worker/src/session/linking/before-login.ts',
    text: 'await onSecretRetired()',
    replacement: 'onSecretRetired().catch(onError)',
    test: {
      file: ofLinking,
      title: 'WhatsApp is not told before the new code is stored, nor when that fails',
    },
  },
  {
    name: 'secret retired while a phone proves the link with it',
    file: 'apps/worker/src/session/credentials/linking-secret.ts',
    text: 'if (performance.now() < heldUntilMs) return false',
    replacement: '',
    test: {
      file: ofLinking,
      title: 'a typed code reaches Baileys, and its secret stays while the phone may prove the link with it',
    },
  },
  {
    name: 'notifications before the login left to Baileys',
    file: 'apps/worker/src/session/linking/before-login.ts',
    text: 'if (isTyped || isLinked(creds)) void passOn()',
    replacement: 'if (isTyped || true) void passOn()',
    test: {
      file: ofLinking,
      title: 'any other notification before the login is acknowledged, and does not reach Baileys',
    },
  },
  {
    name: 'new secret after the passkey was answered with the former one',
    file: 'apps/worker/src/session/linking/passkey.ts',
    text: 'secret.hold(Number.POSITIVE_INFINITY)',
    replacement: '',
    test: {
      file: 'system-tests/linking-refresh.test.ts',
      title: 'is linked by a passkey (after_scan)',
      written: { title: 'is linked by %s (%s)' },
    },
  },
  {
    name: 'secret held for a minute while a person compares codes',
    file: 'apps/worker/src/session/linking/passkey.ts',
    text: 'secret.hold(Number.POSITIVE_INFINITY)',
    replacement: 'secret.hold()',
    test: {
      file: ofPasskey,
      title: 'comes with a secret that stays however long the person at the phone compares codes',
    },
  },
  {
    name: 'handoff proof made with the new secret',
    file: 'apps/worker/src/session/linking/passkey.ts',
    text: 'handoff.begin(creds.advSecretKey)\n    secret.replace()',
    replacement: 'secret.replace()\n    handoff.begin(creds.advSecretKey)',
    test: {
      file: ofPasskey,
      title: 'is made with the secret of the QR code that was scanned, also when WhatsApp asks again',
    },
  },
  {
    name: 'handoff proof made with the secret of the last request',
    file: 'apps/worker/src/session/linking/passkey.ts',
    text: 'if (isBegun) return',
    replacement: '',
    test: {
      file: ofPasskey,
      title: 'is made with the secret of the QR code that was scanned, also when WhatsApp asks again',
    },
  },
  {
    name: 'handoff proof that no phone remembers',
    file: 'apps/worker/src/session/linking/passkey.ts',
    text: 'if (!key || performance.now() >= untilMs) return undefined',
    replacement: 'if (!key) return undefined',
    test: {
      file: ofPasskey,
      title: 'is given 300000 ms after WhatsApp has asked: false',
      written: { title: 'is given %i ms after WhatsApp has asked: %j' },
    },
  },
  {
    name: 'second handoff proof for a phone',
    file: 'apps/worker/src/session/linking/passkey.ts',
    text: '      handoff.end()\n',
    replacement: '',
    test: { file: ofPasskey, title: 'is given until WhatsApp has taken one to the phone' },
  },
  {
    name: 'code compared although the phone knows the device',
    file: 'apps/worker/src/device/passkey.ts',
    text: 'if (answer.isProven && !(await confirmAlone())) return',
    replacement: '',
    test: {
      file: 'system-tests/passkey.test.ts',
      title: 'is linked with an assertion, and needs no code',
    },
  },
  {
    name: 'no code although the phone asks to compare it',
    file: 'apps/worker/src/device/passkey.ts',
    text: 'return isPending && isConfirming',
    replacement: 'return false',
    test: {
      file: 'system-tests/passkey.test.ts',
      title: 'is linked once its person has accepted the code, when the phone asks',
    },
  },
  {
    name: 'dead QR code given out again',
    file: 'apps/api/src/pairing/await-pairing.ts',
    text: 'if (isShown(earlier, pairing))',
    replacement: 'if (isCurrent(earlier, pairing))',
    test: {
      file: 'apps/api/test/pairing.test.ts',
      title: 'a QR code that was scanned, or whose connection has ended, is ignored while Redis still has it',
    },
  },
  {
    name: 'dead QR code shown',
    file: 'apps/api/src/pairing/current-code.ts',
    text: 'pairing.isScanning && isCurrent(found, pairing)',
    replacement: 'isCurrent(found, pairing)',
    test: {
      file: 'apps/api/test/pairing.test.ts',
      title: 'a QR code that was scanned, or whose connection has ended, is ignored while Redis still has it',
    },
  },
  {
    name: 'QR code that is not stored is not shown',
    file: 'apps/worker/src/session/connection/session.ts',
    text: 'persist(() => hooks.onQr(code))',
    replacement: 'hooks.onQr(code)',
    test: {
      file: 'system-tests/withheld-answers.test.ts',
      title: 'every statement that writes may have no answer, and happens once',
    },
  },
  {
    name: 'replaced QR code without an event',
    file: 'apps/worker/src/device/pairing.ts',
    text: "await announceReplacedQr(db, lease, id, writeKeyOf('qr', id, code.text))",
    replacement: '',
    test: {
      file: 'system-tests/linking-refresh.test.ts',
      title: 'are shown the same QR code with another secret, until the same time',
    },
  },
]
