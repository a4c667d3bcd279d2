import type { Mutant } from './mutant.ts'

const ofShards = 'packages/db/test/shard-leases.test.ts'
const ofModel = {
  file: 'packages/db/test/message-model.test.ts',
  title:
    'the messages of a sender agree with a model of sends, schedules, cancellations, links, logouts and owners',
}

/** Leases, fences and links: what lets a worker act for a sender. */
export const ownershipMutants: Mutant[] = [
  {
    name: 'fence removed',
    file: 'packages/db/src/queries/statements/fence.ts',
    text: 'WHERE shard = ${shard} AND owner = ${workerId} AND epoch = ${epoch}',
    replacement: 'WHERE shard = ${shard}',
    test: { file: ofShards, title: "a former owner's fenced write changes nothing" },
  },
  {
    name: 'epoch ignored',
    file: 'packages/db/src/queries/statements/fence.ts',
    text: ' AND epoch = ${epoch}',
    replacement: '',
    test: { file: ofShards, title: 'a fence of an earlier lease of the same worker does not hold' },
  },
  {
    name: 'epoch ignored in batches',
    file: 'packages/db/src/queries/statements/fence.ts',
    text: 'USING (shard, owner, epoch)',
    replacement: 'USING (shard, owner)',
    test: { file: ofShards, title: 'a fence of an earlier lease of the same worker does not hold' },
  },
  {
    name: 'owned shards claimed',
    file: 'packages/db/src/queries/workers/shard-leases.ts',
    text: ' AND owner IS NULL',
    replacement: '',
    test: {
      file: ofShards,
      title: '49 workers that claim, release and die at the same time never own a shard together',
    },
  },
  {
    name: 'reaps after an outage',
    file: 'packages/db/src/queries/workers/workers.ts',
    text: 'AND renewed_since <= now()',
    replacement: "AND renewed_since <= now() + interval '1 day'",
    test: {
      file: 'packages/db/test/workers.test.ts',
      title: 'marks no worker dead before it has renewed its own lease for one full TTL',
    },
  },
  {
    name: 'rests while a worker may be gone',
    file: 'apps/worker/src/ownership/view.ts',
    text: '!workers.some(({ isSuspect }) => isSuspect)',
    replacement: 'true',
    test: {
      file: 'apps/worker/test/ownership-plan.test.ts',
      title: 'polls every fourth tick while every shard has an owner and its share is full',
    },
  },
  {
    name: 'marks no worker dead at rest',
    file: 'apps/worker/src/ownership/ownership.ts',
    text: 'performance.now() < restsUntilMs',
    replacement: 'true',
    test: {
      file: 'apps/worker/test/ownership-loss.test.ts',
      title: 'a draining worker without shards that was killed is marked dead while all else is at rest',
    },
  },
  {
    name: 'lease not asked after a step is stored',
    file: 'apps/worker/src/device/device-auth.ts',
    text: 'if (!lease.isValid())',
    replacement: 'if (false)',
    test: {
      file: 'apps/worker/test/device-auth.test.ts',
      title: 'rejects a write when the lease has expired before the write was stored',
    },
  },
  {
    name: 'link generation ignored',
    file: 'packages/db/src/queries/messages/unsendable-messages.ts',
    text: 'message.link_generation <> device.link_generation',
    replacement: 'false',
    test: ofModel,
  },
  {
    name: 'message of a former link claimed',
    file: 'packages/db/src/queries/messages/message-claims.ts',
    text: 'AND device.link_generation = message.link_generation',
    replacement: '',
    test: {
      file: 'packages/db/test/waiting-messages.test.ts',
      title: 'are neither listed nor claimed, also before they have failed',
    },
  },
  {
    name: 'epoch of a QR code ignored',
    file: 'apps/api/src/pairing/current-code.ts',
    text: 'found?.epoch === pairing.epoch &&',
    replacement: 'found !== undefined &&',
    test: {
      file: 'apps/api/test/pairing.test.ts',
      title: 'a QR code from a former owner is ignored, whether retained or announced',
    },
  },
  {
    name: 'failure of a proxy taken for a lack of pairing slots',
    file: 'apps/api/src/pairing/await-pairing.ts',
    text: 'if (refused === undefined) return undefined',
    replacement: 'if (refusal === undefined) return undefined',
    test: {
      file: 'apps/api/test/device-proxy.test.ts',
      title: 'that gives no connection ends the wait also while a code is being looked up',
    },
  },
  {
    name: 'refused login forgotten by the next owner',
    file: 'apps/worker/src/device/plan.ts',
    text: 'Math.max(pauseMs(facts, state, at), blockedMs(facts, at.version))',
    replacement: 'pauseMs(facts, state, at) + 0 * blockedMs(facts, at.version)',
    test: {
      file: 'apps/worker/test/logins-in-time.test.ts',
      title: 'a day of bans of six hours each has exactly the permitted logins',
    },
  },
  {
    name: 'passkey step of a withdrawn pairing set',
    file: 'packages/db/src/queries/devices/device-link.ts',
    text: ' AND NOT has_credentials AND pairing_until > now()',
    replacement: '',
    test: {
      file: 'packages/db/test/pairing-step.test.ts',
      title: 'is over when the device is linked, and does not begin again',
    },
  },
  {
    name: 'shards started that were lost while waiting',
    file: 'apps/worker/src/ownership/owned-shards.ts',
    text: 'batch.filter(({ isEnded }) => !isEnded)',
    replacement: 'batch',
    test: {
      file: 'apps/worker/test/owned-shards.test.ts',
      title: 'shards that are lost while their start waits for its turn are not started',
    },
  },
]
