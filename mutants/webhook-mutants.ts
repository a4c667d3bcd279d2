import type { Mutant } from './mutant.ts'

const folder = 'apps/worker/src/webhooks'
const rounds = 'packages/db/src/queries/webhooks/webhook-rounds.ts'
const ofFailures = 'apps/worker/test/webhook-failures.test.ts'
const ofOwnership = 'apps/worker/test/webhook-ownership.test.ts'
const ofUnstored = 'apps/worker/test/unstored-rounds.test.ts'
const ofOrder = 'apps/worker/test/webhook-order.test.ts'

/** From the stream of events to the target. */
export const webhookMutants: Mutant[] = [
  {
    name: 'a position that passes events before they are delivered',
    file: `${folder}/conclude-round.ts`,
    text: 'position: firstOpen ? settled.at(-1)?.events.at(-1)?.position : streamEnd',
    replacement: 'position: streamEnd',
    test: { file: ofOrder, title: 'the position passes no event that was neither taken nor parked' },
  },
  {
    name: 'a failed request is not parked',
    file: `${folder}/conclude-round.ts`,
    text: 'parked: settled.filter(hasFailed)',
    replacement: 'parked: settled.filter(() => false)',
    test: {
      file: ofFailures,
      title: 'a failed request is repeated with the same id and body, and blocks no later event',
    },
  },
  {
    name: 'a former dispatcher records a round',
    file: rounds,
    text: 'const isOwned = sql`id = ${webhookId} AND dispatcher = ${dispatcher} AND lease_epoch = ${epoch}`',
    replacement: 'const isOwned = sql`id = ${webhookId}`',
    test: {
      file: ofOwnership,
      title: 'a former dispatcher neither moves the position, nor parks, nor disables',
    },
  },
  {
    name: 'a round of before a change is recorded',
    file: rounds,
    text: 'AND dispatcher = ${dispatcher} AND lease_epoch = ${epoch}`\n  const nextAttempt',
    replacement: 'AND dispatcher = ${dispatcher}`\n  const nextAttempt',
    test: { file: ofOwnership, title: 'a round that began before a change of the account is not recorded' },
  },
  {
    name: 'an answer that Postgres refuses keeps its round from being stored',
    file: `${folder}/store-round.ts`,
    text: 'answer: null, error: null',
    replacement: 'error: null',
    test: {
      file: 'apps/worker/test/unstored-rounds.test.ts',
      title: 'a round with an answer that Postgres refuses is stored without it, and not posted again',
    },
  },
  {
    name: 'a redirect counts as delivered',
    file: `${folder}/round.ts`,
    text: 'status < 300',
    replacement: 'status < 400',
    test: { file: ofFailures, title: 'a redirect is a failure and is not followed' },
  },
  {
    name: 'the address of a public name is not checked',
    file: `${folder}/target-guard.ts`,
    text: 'makePublicLookup(isForbidden, lookup',
    replacement: 'makePublicLookup(() => false, lookup',
    test: {
      file: ofFailures,
      title: 'a private address is refused, also when a name leads to it, which then is like a missing one',
    },
  },
  {
    name: 'an address in a URL is not checked',
    file: `${folder}/target-guard.ts`,
    text: '(isIP(host) && isForbidden(host))',
    replacement: 'isIP(host) > 6',
    test: {
      file: ofFailures,
      title: 'a private address is refused, also when a name leads to it, which then is like a missing one',
    },
  },
  {
    name: 'a signature over the id of the event only',
    file: 'packages/shared/src/webhook-signature.ts',
    text: '.${body}`',
    replacement: '.`',
    test: {
      file: 'apps/worker/test/webhook-deliveries.test.ts',
      title: 'delivers an event as the stream has it, signed, with its id',
    },
  },
  {
    name: 'two requests of one conversation at a time',
    file: `${folder}/round.ts`,
    text: 'for (const subject of subjects) taken.add(subject)\n    return isFree',
    replacement: 'return isFree',
    test: {
      file: ofOrder,
      title: 'every request is sent once, those of a subject in order and one at a time',
    },
  },
  {
    name: 'the lag of a webhook counts events that it does not want',
    file: 'packages/db/src/queries/webhooks/webhook-lags.ts',
    text: 'min(created_at) FILTER (WHERE is_wanted)',
    replacement: 'min(created_at)',
    test: {
      file: 'packages/db/test/webhooks.test.ts',
      title: 'the lag is the age of the oldest wanted event that is neither delivered nor given up',
    },
  },
  {
    name: 'the caller of test-webhook is not woken',
    file: `${folder}/store-round.ts`,
    text: 'if (unstored.hasTest)',
    replacement: 'if (unstored.round.done.length > 1000)',
    test: {
      file: 'system-tests/webhooks.test.ts',
      title: 'a webhook gets the events of a message in order, signed, and again on request',
    },
  },
  {
    name: 'certificates of targets are not verified',
    file: `${folder}/target-guard.ts`,
    text: 'timeout: idleMs }',
    replacement: 'timeout: idleMs, rejectUnauthorized: false }',
    test: {
      file: 'system-tests/webhooks.test.ts',
      title: 'a target with TLS needs a certificate of an authority and of its name',
    },
  },
  {
    name: 'lease not renewed while a target does not answer',
    file: `${folder}/webhook-ownership.ts`,
    text: '    await this.#releaseStopped()',
    replacement:
      '    await Promise.all([...this.#owned.values()].filter((one) => one.isStopping).map((one) => one.stop()))',
    test: {
      file: 'apps/worker/test/webhook-ownership.test.ts',
      title: 'a dispatcher that gives away a webhook renews its lease while the target does not answer',
    },
  },
  {
    name: 'a delivery whose event is not readable yet counts as lost',
    file: 'packages/db/src/queries/events/events-at.ts',
    text: "isEarly ? 'early' :",
    replacement: "isEarly ? 'lost' :",
    test: {
      file: 'apps/worker/test/stored-requests.test.ts',
      title: 'a delivery whose event is not readable yet waits for it',
    },
  },
  {
    name: 'a round that could not be stored is posted again',
    file: `${folder}/owned-webhook.ts`,
    text: 'if (isRefusedContent(error)) this.#state = undefined',
    replacement: 'this.#state = undefined\n    isRefusedContent(error)',
    test: {
      file: ofUnstored,
      title:
        'while Postgres is read-only, no event is posted twice, and all are delivered once it is writable',
    },
  },
  {
    name: 'the pause after a failed round does not grow',
    file: `${folder}/owned-webhook.ts`,
    text: 'growingPauseMs(this.#failures, failurePause)',
    replacement: 'growingPauseMs(1, failurePause)',
    test: {
      file: ofUnstored,
      title: 'a round whose content is refused is posted again after a pause that grows',
    },
  },
  {
    name: 'a dispatcher posts without a lease',
    file: `${folder}/owned-webhook.ts`,
    text: '!this.isStopping && this.#options.isLeaseValid()',
    replacement: '!this.isStopping',
    test: {
      file: ofUnstored,
      title: 'a dispatcher that cannot renew its lease posts nothing once it has ended',
    },
  },
  {
    name: 'a round is forgotten when its dispatcher stops',
    file: `${folder}/owned-webhook.ts`,
    text: 'if (this.isStopping) await this.#storeRest()',
    replacement: 'if (!this.isStopping) await this.#storeRest()',
    test: { file: ofUnstored, title: 'what a webhook could not store is stored when its dispatcher stops' },
  },
  {
    name: 'a changed webhook finishes its round at the former target',
    file: `${folder}/dispatcher.ts`,
    text: '    await ownership.endRoundsOfChanged()\n',
    replacement: '',
    test: {
      file: ofOwnership,
      title: 'a round in progress ends with a change: another URL',
      written: { title: 'a round in progress ends with a change: %s' },
    },
  },
  {
    name: 'two forms of a number are two conversations for a webhook',
    file: `${folder}/delivery-request.ts`,
    text: '(digits ? phoneForms(digits) : [])',
    replacement: '(digits && phoneForms(digits) ? [digits] : [])',
    test: {
      file: ofOrder,
      title: 'one conversation is one subject: a Brazilian number with and without its digit',
      written: { title: 'one conversation is one subject: %s' },
    },
  },
  {
    name: 'a LID and its number are two conversations for a webhook',
    file: `${folder}/delivery-request.ts`,
    text: '...(contactJid && server !== phoneServer ? [contactJid] : [])]',
    replacement: '...(contactJid && server !== phoneServer && names.length === 0 ? [contactJid] : [])]',
    test: {
      file: ofOrder,
      title: 'one conversation is one subject: a LID before its number is known',
      written: { title: 'one conversation is one subject: %s' },
    },
  },
  {
    name: 'webhook without the reference of the message',
    file: 'packages/shared/src/objects/message-object.ts',
    text: 'reference: message.reference,',
    replacement: 'reference: null,',
    test: {
      file: 'apps/worker/test/webhook-deliveries.test.ts',
      title: 'the body has the reference of the message',
    },
  },
  {
    name: 'a change of an unknown message overtakes the messages of its conversation',
    file: 'apps/worker/src/webhooks/delivery-request.ts',
    text: 'return names.length > 0 ? names.map',
    replacement: 'return names.length < 0 ? names.map',
    test: {
      file: 'apps/worker/test/webhook-order.test.ts',
      title:
        'messages of the phone, of the gateway and changes of unknown messages of one conversation are one subject',
    },
  },
]
