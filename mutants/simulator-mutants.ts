import type { Mutant } from './mutant.ts'

const ofVersion = 'packages/simulator/test/web-version.test.ts'

/** What the simulated network demands of clients. */
export const simulatorMutants: Mutant[] = [
  {
    name: 'older clients that log in',
    file: 'packages/simulator/src/stanzas/login.ts',
    text: "=== 'login'",
    replacement: "=== 'phone'",
    test: { file: ofVersion, title: 'refuses logins of older clients with 405, and those of others not' },
  },
  {
    name: 'older clients that show QR codes',
    file: 'packages/simulator/src/stanzas/client.ts',
    text: 'payload.devicePairingData && isRefusedAtLogin(network, payload)',
    replacement: 'false',
    test: { file: ofVersion, title: 'shows no QR code to older clients' },
  },
  {
    name: 'pairing codes of older clients taken by a phone',
    file: 'packages/simulator/src/stanzas/link-code.ts',
    text: 'checkClientVersion(network, pairing)',
    replacement: '',
    test: { file: ofVersion, title: 'phones refuse the pairing code of an older client' },
  },
]
