import type { Mutant } from './mutant.ts'

const ofCaller = {
  file: 'apps/worker/test/send-interleavings.test.ts',
  title: 'two messages keep the guarantees in every order of all steps, with a caller who cancels',
  written: { title: 'two messages keep the guarantees in every order of all steps, with %s' },
}

/** What moves a message, and when the next one may leave. */
export const stateMutants: Mutant[] = [
  {
    name: 'a message that may have left is canceled',
    file: 'packages/db/src/message-states.ts',
    text: "cancel: { by: 'caller', from: ['queued'], to: 'canceled' }",
    replacement: "cancel: { by: 'caller', from: ['queued', 'sending'], to: 'canceled' }",
    test: ofCaller,
  },
  {
    name: 'a canceled message is claimed',
    file: 'packages/db/src/message-states.ts',
    text: "claim: { by: 'owner', from: ['queued', 'sending'], to: 'sending' }",
    replacement: "claim: { by: 'owner', from: ['queued', 'sending', 'canceled'], to: 'sending' }",
    test: ofCaller,
  },
  {
    name: 'the next message to a recipient does not wait for an answer',
    file: 'apps/worker/src/outbox/recipient-lanes.ts',
    text: "if (work === 'send') return facts.isRetry(message) ? 'attempted' : 'open'",
    replacement: '',
    test: {
      ...ofCaller,
      title: 'two messages keep the guarantees in every order of all steps, with faults',
    },
  },
]
