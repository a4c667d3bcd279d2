import type { Mutant } from './mutant.ts'

const ofTurns = 'apps/worker/test/choose-turn.test.ts'
const ofQueries = 'packages/db/test/priorities.test.ts'

export const volumeMutants: Mutant[] = [
  {
    name: 'what is passed over starves',
    file: 'apps/worker/src/outbox/turns.ts',
    text: 'passesOf(highest) < passedOverMax',
    replacement: 'passesOf(highest) < Number.POSITIVE_INFINITY',
    test: { file: ofTurns, title: 'a tenth of the turns goes to what they pass over' },
  },
  {
    name: 'two messages to one person leave together',
    file: 'apps/worker/src/outbox/recipient-lanes.ts',
    text: ' && !served.has(lane)',
    replacement: '',
    test: {
      file: ofTurns,
      title:
        'a message of higher priority goes before another one to the same recipient, also while that is prepared',
    },
  },
  {
    name: 'a high priority is not looked for',
    file: 'apps/api/src/messages/message-intake.ts',
    text: "enqueueCommand({ kind: 'apply-settings', deviceId })",
    replacement: '',
    test: {
      file: 'system-tests/priorities.test.ts',
      title:
        'a one-time code leaves in the next turn of its sender, and what comes too late for its caller never does',
    },
  },
  {
    name: 'an expired message claimed',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: ' OR message.expires_at > now())',
    replacement: ' OR true)',
    test: { file: ofQueries, title: 'is not claimed after it, and fails once' },
  },
  {
    name: 'a message of a paused sender claimed',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: "AND NOT ${isPaused(sql, 'device')}",
    replacement: '',
    test: {
      file: ofQueries,
      title: 'nothing is claimed for a paused sender, also while its owner does not know of the pause',
    },
  },
  {
    name: 'a message on its way expires',
    file: 'packages/db/src/queries/messages/unsendable-messages.ts',
    text: "message.status = ANY(${acceptedBy('expire').statuses}) AND",
    replacement: '',
    test: { file: ofQueries, title: 'that was listed and then claimed does not fail' },
  },
]
