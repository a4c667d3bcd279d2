import type { Mutant } from './mutant.ts'

const ofActivation = 'packages/simulator/test/activation.test.ts'
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
  {
    name: 'active clients that have to request what waits',
    file: 'packages/simulator/src/stanzas/login.ts',
    text: 'else if (!payload.passive) activate(network, device)',
    replacement: '',
    test: { file: ofActivation, title: 'serves a client at once that does not log in as passive' },
  },
  {
    name: 'passive clients served at once',
    file: 'packages/simulator/src/stanzas/login.ts',
    text: 'else if (!payload.passive)',
    replacement: 'else',
    test: {
      file: ofActivation,
      title: 'serves a client that logs in as passive when it requests to be active',
    },
  },
  {
    name: 'clients that cannot become passive',
    file: 'packages/simulator/src/stanzas/iq.ts',
    text: 'makePassive(device)',
    replacement: '{}',
    test: {
      file: ofActivation,
      title: 'serves a client until it requests to be passive, and when it is active again',
    },
  },
  {
    name: 'histories within messages for clients that cannot read them',
    file: 'packages/simulator/src/stanzas/history-push.ts',
    text: 'readsInlineHistory && packed',
    replacement: 'packed',
    test: {
      file: 'packages/simulator/test/history.test.ts',
      title: 'gives a small past in files to any other',
      written: { title: 'gives a small past %s' },
    },
  },
  {
    name: 'older half of a past for every client',
    file: 'packages/simulator/src/stanzas/history.ts',
    text: 'if (wantsFullHistory) yield',
    replacement: 'yield',
    test: {
      file: 'packages/simulator/test/history.test.ts',
      title: 'gives other companions the newer half, with the same messages for the same seed',
    },
  },
]
