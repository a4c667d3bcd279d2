import type { Mutant } from './mutant.ts'

const ofReplays = 'packages/db/test/webhook-replays.test.ts'
const ofPairings = 'apps/api/test/pairing-limits.test.ts'
const ofLinks = 'apps/api/test/link-budgets.test.ts'
const ofAudits = 'apps/api/test/audit-log.test.ts'
const ofOrigins = 'apps/api/test/plain-origins.test.ts'
const deliveries = 'packages/db/src/queries/webhooks/webhook-deliveries.ts'

/** What is bounded, and to whom it is charged. */
export const limitMutants: Mutant[] = [
  {
    name: 'replays of one webhook do not wait for each other',
    file: deliveries,
    text: "\n  await tx.select({ id: webhooks.id }).from(webhooks).where(wanted).for('no key update')",
    replacement: '\n  void wanted',
    test: { file: ofReplays, title: 'replays at the same time add an event once' },
  },
  {
    name: 'an event that waits is replayed again',
    file: deliveries,
    text: '\n    WHERE given.id NOT IN (SELECT id FROM waiting)',
    replacement: '',
    test: {
      file: ofReplays,
      title: 'an event that waits already is not added again, also in a request of several',
    },
  },
  {
    name: 'replays without end',
    file: deliveries,
    text: "webhook.waiting > waitingMax ? 'full' : undefined",
    replacement: 'undefined',
    test: { file: ofReplays, title: 'nothing is replayed while too many deliveries wait' },
  },
  {
    name: 'replays charged with all requests only',
    file: 'apps/api/src/operations/replay-webhook.ts',
    text: '\n    await call.charge({ limit, key: String(accountId) })',
    replacement: '\n    void limit',
    test: {
      file: 'apps/api/test/webhooks.test.ts',
      title: 'has a limit of its own for times, and one for single events',
    },
  },
  {
    name: 'a rotation ends a secret that was promised to sign',
    file: 'packages/db/src/queries/webhooks/webhooks.ts',
    text: "if (overlapMs > 0 && (await tx.$count(webhookSecrets, isFormer)) > 0) return 'overlapping'",
    replacement: 'void isFormer',
    test: {
      file: 'packages/db/test/webhooks.test.ts',
      title: 'a former secret signs as long as was promised, unless all are ended at once',
    },
  },
  {
    name: 'links to files charged to the account',
    file: 'apps/api/src/received-media/admit-media-reader.ts',
    text: 'limits.accountLinkRequests',
    replacement: 'limits.accountRequests',
    test: {
      file: ofLinks,
      title: 'all links and tokens of an account have a limit, apart from that of its keys',
    },
  },
  {
    name: 'stream tokens charged to their key',
    file: 'apps/api/src/credentials/admit-caller.ts',
    text: 'if (streamToken) return',
    replacement: 'if (!keyId) return',
    test: {
      file: ofLinks,
      title: 'a stream token has its own limit, and leaves that of the key which created it alone',
    },
  },
  {
    name: 'a QR code that is shown again charged',
    file: 'apps/api/src/pairing/charge-pairing.ts',
    text: 'if (!force && (await isShowingQr(call, sender))) return',
    replacement: 'void isShowingQr',
    test: {
      file: ofPairings,
      title: 'a QR code that is still valid is returned without a charge, and a new one is charged',
    },
  },
  {
    name: 'a QR code of a link charged to the account',
    file: 'apps/api/src/pairing/charge-pairing.ts',
    text: "if (link) return call.charge({ limit: 'linkQrCodes', key: String(link.id) })",
    replacement: 'void link',
    test: {
      file: ofPairings,
      title: 'a person with a link uses up the codes of the link, not those of the account',
    },
  },
  {
    name: 'pairing codes without end',
    file: 'apps/api/src/pairing/charge-pairing.ts',
    text: "if (!link) return call.charge({ limit: 'pairingCodes', key: String(accountId) })",
    replacement: 'if (!link) return',
    test: {
      file: ofPairings,
      title: 'an account gets a limited number of pairing codes in a day, over all senders',
    },
  },
  {
    name: 'a pairing code of a day for a linked sender',
    file: 'apps/api/src/operations/pair-code.ts',
    text: 'if (!force) await refuseLinked(call, device.id)',
    replacement: 'void refuseLinked',
    test: { file: ofPairings, title: 'requests that notify no phone use up nothing of a day' },
  },
  {
    name: 'a stream token reads the past',
    file: 'apps/api/src/operations/events-stream.ts',
    text: "if (principal.streamToken && cursor !== 'latest') ",
    replacement: "if (principal.link && cursor !== 'latest' && principal.streamToken) ",
    test: {
      file: 'apps/api/test/stream-tokens.test.ts',
      title: 'a token shows nothing from before its creation, unless it was created with a cursor',
    },
  },
  {
    name: 'a broken-off body counted as a failure',
    file: 'apps/api/src/http/responder.ts',
    text: 'incoming.destroyed && incoming.complete === false',
    replacement: 'incoming.destroyed && incoming.complete === undefined',
    test: {
      file: 'apps/api/test/broken-off-bodies.test.ts',
      title: 'a body without a key that its client breaks off is no failure of the gateway',
      written: { title: 'a body %s that its client breaks off is no failure of the gateway' },
    },
  },
  {
    name: 'an opt-out that changes nothing recorded',
    file: 'apps/api/src/operations/opt-out.ts',
    text: 'if (isNew) await audit',
    replacement: 'if (isNew || !isNew) await audit',
    test: {
      file: ofAudits,
      title: 'says what was changed, but no secret, and nothing of what was so before',
    },
  },
  {
    name: 'changes without end',
    file: 'apps/api/src/changes/audit.ts',
    text: "if (!isFree) await call.charge({ limit: 'changes', key: String(accountId) })",
    replacement: 'void isFree',
    test: {
      file: ofAudits,
      title: 'an account makes a limited number of changes in a day, and can always revoke its keys',
    },
  },
  {
    name: 'texts sent to webhooks in plain form',
    file: 'apps/api/src/config.ts',
    text: "env.ALLOW_HTTP_WEBHOOKS ?? env.WHATSAPP_NETWORK === 'simulator'",
    replacement: 'env.ALLOW_HTTP_WEBHOOKS ?? true',
    test: {
      file: ofOrigins,
      title: 'set-webhook on the live network decides about URLs with http',
      written: { title: 'set-webhook on %s decides about URLs with http' },
    },
  },
  {
    name: 'links to the host that a caller names',
    file: 'apps/api/src/calls/answer-operation.ts',
    text: "if (installation.network === 'simulator') return",
    replacement: 'if (installation) return',
    test: {
      file: ofOrigins,
      title: 'without or with PUBLIC_URL, the live network makes no link',
      written: { title: 'without or with PUBLIC_URL, %s' },
    },
  },
  {
    name: 'a link used up by loading its page',
    file: 'apps/api/page/link/link.js',
    text: 'if (secret) return askToContinue(secret)',
    replacement: 'if (secret) return void openLink(secret)',
    test: {
      file: 'system-tests/link-page.test.ts',
      title: 'opens a one-time link with a click only, so that programs that load it do not use it up',
    },
  },
  {
    name: 'a hundred numbers charged as one request',
    file: 'apps/api/src/operations/check-number.ts',
    text: 'if (asked.size > 1) await chargeFurther(call, asked.size - 1)',
    replacement: 'void chargeFurther',
    test: {
      file: 'apps/api/test/check-numbers.test.ts',
      title: 'each subscriber counts as a request, also beyond what the key has left',
    },
  },
  {
    name: 'a debt that is forgiven',
    file: 'packages/queue/src/rate-limits.ts',
    text: 'given = tokens > 0 and -wanted or 0',
    replacement: 'given = tokens',
    test: {
      file: 'packages/queue/test/rate-limits.test.ts',
      title: 'lets a request for many tokens owe them, with Redis',
      written: { title: 'lets a request for many tokens owe them, %s Redis' },
    },
  },
  {
    name: 'a page that is loaded again uses up the codes of its link',
    file: 'apps/api/src/pairing/charge-pairing.ts',
    text: 'if (noted === undefined) await chargePairingCode(call)',
    replacement: 'await chargePairingCode(call)',
    test: {
      file: ofPairings,
      title: 'a code that is still valid is returned without a charge, and another one is charged',
    },
  },
  {
    name: 'another code taken for the one that was paid',
    file: 'apps/api/src/pairing/charge-pairing.ts',
    text: 'if (noted !== undefined && noted !== hash)',
    replacement: 'if (noted === hash)',
    test: {
      file: ofPairings,
      title: 'a code that is still valid is returned without a charge, and another one is charged',
    },
  },
]
