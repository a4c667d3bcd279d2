import type { Mutant } from './mutant.ts'

const ofLinking = 'apps/worker/test/linking.test.ts'

/** The secret with which a phone proves a link. */
export const linkingMutants: Mutant[] = [
  {
    name: 'QR codes with the first secret',
    file: 'apps/worker/src/session/qr-codes.ts',
    text: '(index === 3 ? secret : part)',
    replacement: '(index === 4 ? secret : part)',
    test: {
      file: ofLinking,
      title: 'a QR code has the secret of the moment, not the one that Baileys began with',
    },
  },
  {
    name: 'retired secret acknowledged before the new one is stored',
    file: 'apps/worker/src/session/before-login.ts',
    text: 'await onSecretRetired()',
    replacement: 'onSecretRetired().catch(onError)',
    test: {
      file: ofLinking,
      title: 'WhatsApp is not told before the new code is stored, nor when that fails',
    },
  },
  {
    name: 'secret retired while a phone proves the link with it',
    file: 'apps/worker/src/session/linking-secret.ts',
    text: 'if (performance.now() < heldUntilMs) return false',
    replacement: '',
    test: {
      file: ofLinking,
      title: 'a typed code reaches Baileys, and its secret stays while the phone may prove the link with it',
    },
  },
  {
    name: 'notifications before the login left to Baileys',
    file: 'apps/worker/src/session/before-login.ts',
    text: 'if (isTyped || isLinked(creds)) void passOn()',
    replacement: 'if (isTyped || true) void passOn()',
    test: {
      file: ofLinking,
      title: 'any other notification before the login is acknowledged, and does not reach Baileys',
    },
  },
  {
    name: 'new secret after the passkey was answered with the former one',
    file: 'apps/worker/src/session/passkey.ts',
    text: 'secret.hold()',
    replacement: '',
    test: {
      file: 'system-tests/linking-refresh.test.ts',
      title: 'is linked by a passkey (after_scan)',
      written: { title: 'is linked by %s (%s)' },
    },
  },
  {
    name: 'replaced QR code without an event',
    file: 'apps/worker/src/device/pairing.ts',
    text: 'await announceReplacedQr(db, lease, id)',
    replacement: '',
    test: {
      file: 'system-tests/linking-refresh.test.ts',
      title: 'are shown the same QR code with another secret, until the same time',
    },
  },
]
