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
  {
    name: 'a message that is written does not occupy its recipient',
    file: 'apps/worker/src/outbox/message-hands.ts',
    text: "written: 'send'",
    replacement: 'written: undefined',
    test: {
      ...ofCaller,
      title: 'two messages keep the guarantees in every order of all steps, with faults',
    },
  },
  {
    name: 'a message that WhatsApp has is sent once more',
    file: 'apps/worker/src/outbox/message-hands.ts',
    text: "isAcknowledged: ({ id }) => stateOf(id) === 'acknowledged'",
    replacement: 'isAcknowledged: () => false',
    test: {
      ...ofCaller,
      title: 'two messages keep the guarantees in every order of all steps, with faults',
    },
  },
  {
    name: 'a hand makes any move',
    file: 'apps/worker/src/outbox/message-hands.ts',
    text: 'return from.includes(state) ? to : undefined',
    replacement: 'return from.length > 0 ? to : undefined',
    test: { file: 'apps/worker/test/message-hands.test.ts', title: 'moves only so' },
  },
]
