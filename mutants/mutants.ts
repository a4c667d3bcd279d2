/** A planted bug, and the test that must notice it. */
export type Mutant = {
  name: string
  file: string
  /** In the file exactly once, as short as possible, so that changes nearby do not break it. */
  text: string
  replacement: string
  test: {
    file: string
    title: string
    /** Where its text is, if not in the file, or not as it is shown. */
    written?: { file?: string; title?: string }
  }
}

const ofShards = 'packages/db/test/shard-leases.test.ts'
const ofStatus = 'packages/db/test/message-status.test.ts'
const ofWaitingMedia = 'packages/db/test/waiting-media.test.ts'
const ofKeys = 'apps/api/test/keys.test.ts'
const ofAgreement = {
  file: 'faults/test/agreement.test.ts',
  title: 'what clients were told, what the database says and what phones show is the same',
}
const ofKill = {
  file: 'system-tests/received.test.ts',
  title: 'loses nothing when the owner is killed while messages and receipts wait to be stored',
}
const ofFrozenDatabase = {
  file: 'system-tests/received.test.ts',
  title: 'loses neither messages nor receipts while Postgres does not answer for longer than a lease',
}
const ofModel = {
  file: 'packages/db/test/message-model.test.ts',
  title:
    'the messages of a sender agree with a model of sends, schedules, cancellations, links, logouts and owners',
}
const onlyForward = {
  file: ofStatus,
  title:
    'a status only moves forward, with outcomes that are late, repeated, concurrent, from a former owner or by a wrong clock',
}

export const mutants: Mutant[] = [
  {
    name: 'fence removed',
    file: 'packages/db/src/queries/fence.ts',
    text: 'WHERE shard = ${shard} AND owner = ${workerId} AND epoch = ${epoch}',
    replacement: 'WHERE shard = ${shard}',
    test: { file: ofShards, title: "a former owner's fenced write changes nothing" },
  },
  {
    name: 'epoch ignored',
    file: 'packages/db/src/queries/fence.ts',
    text: ' AND epoch = ${epoch}',
    replacement: '',
    test: { file: ofShards, title: 'a fence of an earlier lease of the same worker does not hold' },
  },
  {
    name: 'epoch ignored in batches',
    file: 'packages/db/src/queries/fence.ts',
    text: 'USING (shard, owner, epoch)',
    replacement: 'USING (shard, owner)',
    test: { file: ofShards, title: 'a fence of an earlier lease of the same worker does not hold' },
  },
  {
    name: 'owned shards claimed',
    file: 'packages/db/src/queries/shard-leases.ts',
    text: ' AND owner IS NULL',
    replacement: '',
    test: {
      file: ofShards,
      title: '49 workers that claim, release and die at once never own a shard together',
    },
  },
  {
    name: 'reaps after an outage',
    file: 'packages/db/src/queries/workers.ts',
    text: 'AND renewed_since <= now()',
    replacement: "AND renewed_since <= now() + interval '1 day'",
    test: {
      file: 'packages/db/test/workers.test.ts',
      title: 'marks no worker dead before it has renewed its own lease for one full TTL',
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
    name: 'ciphertext before its step is stored',
    file: 'apps/worker/src/session/signal-section.ts',
    text: 'await store.add({ writes, first })',
    replacement: 'store.add({ writes, first }).catch(() => undefined)',
    test: {
      file: 'apps/worker/test/signal-section.test.ts',
      title: 'never overlap, and each has stored its step before it returns the ciphertext',
    },
  },
  {
    name: 'new id on resend',
    file: 'packages/db/src/queries/waiting-messages.ts',
    text: 'wa_id AS "waId", number, recipient_jid',
    replacement:
      "CASE WHEN status = 'sending' THEN '3EB0' || upper(left(md5(random()::text), 18)) ELSE wa_id END AS \"waId\", number, recipient_jid",
    test: {
      file: 'faults/suite.fault.ts',
      title: '18: WhatsApp drops all connections at once',
      written: { file: 'faults/whatsapp.ts' },
    },
  },
  {
    name: 'ack not awaited',
    file: 'apps/worker/src/outbox/delivery.ts',
    text: 'const given = await answer',
    replacement: "const given: AckResult = { kind: 'acknowledged' }",
    test: {
      file: 'system-tests/device-links.test.ts',
      title: 'not when its bytes were written: as long as WhatsApp has not acknowledged it, it is being sent',
    },
  },
  {
    name: 'order at random',
    file: 'apps/worker/src/outbox/waiting-list.ts',
    text: 'one.seq - other.seq',
    replacement: 'Math.random() - 0.5 + 0 * (one.seq - other.seq)',
    test: {
      file: 'apps/worker/test/recipient-lanes.test.ts',
      title: 'messages to one recipient leave one at a time in their order, and none stays hidden',
    },
  },
  {
    name: 'every tenth outcome failed',
    file: 'apps/worker/src/outbox/recorder.ts',
    text: 'store(waId, { status, at: at.toISOString() }, message)',
    replacement:
      "store(waId, Math.random() < 0.1 ? { status: 'failed', at: at.toISOString(), error: { code: 'message_expired', sentence: '' } } : { status, at: at.toISOString() }, message)",
    test: ofAgreement,
  },
  {
    name: 'every second receipt dropped',
    file: 'apps/worker/src/session/receipts.ts',
    text: 'if (!kind)',
    replacement: 'if (!kind || Math.random() < 0.5)',
    test: ofAgreement,
  },
  {
    name: 'receipt acknowledged before it is stored',
    file: 'apps/worker/src/session/receipts.ts',
    text: 'Promise.allSettled([stored, passed])',
    replacement: 'Promise.allSettled([passed, passed])',
    test: ofFrozenDatabase,
  },
  {
    name: 'session changed by a failed decryption',
    file: 'apps/worker/src/preload.ts',
    text: "import './preload/intact-sessions.ts'\n",
    replacement: '',
    test: { file: 'apps/worker/test/preload.test.ts', title: 'stay intact when both sides write first' },
  },
  {
    name: 'receipt of a stranger taken for an answer',
    file: 'apps/worker/src/outbox/in-flight.ts',
    text: ' || !isBelievable(outcome, recipient)',
    replacement: '',
    test: {
      file: 'apps/worker/test/in-flight.test.ts',
      title: 'ignores receipts of anybody but the recipient',
    },
  },
  {
    name: 'time of a repetition judged before its key',
    file: 'apps/api/src/messages/message-intake.ts',
    text: 'if (replay) return',
    replacement: 'if (replay && !refusal) return',
    test: {
      file: 'apps/api/test/idempotency.test.ts',
      title: 'a replay is recognized after its scheduled time has passed',
    },
  },
  {
    name: 'received message acknowledged before it is stored',
    file: 'apps/worker/src/session/signal-section.ts',
    text: 'await Promise.all(batch.map(({ first }) => first?.()))',
    replacement: 'Promise.all(batch.map(({ first }) => first?.())).catch(() => undefined)',
    test: ofKill,
  },
  {
    name: 'received messages not stored',
    file: 'apps/worker/src/session/received.ts',
    text: 'if (!source || !read) return undefined',
    replacement: 'if (source || !read) return undefined',
    test: ofAgreement,
  },
  {
    name: 'number without WhatsApp reported as sent',
    file: 'apps/worker/src/outbox/outbox.ts',
    text: "results.fail(message, 'recipient_not_on_whatsapp')",
    replacement: 'results.recordSent(message)',
    test: ofAgreement,
  },
  {
    name: 'a lower status replaces a higher one',
    file: 'packages/db/src/queries/message-outcomes.ts',
    text: '[greatest(given.rank,',
    replacement: '[least(given.rank,',
    test: onlyForward,
  },
  {
    name: 'cancel ignores the status',
    file: 'packages/db/src/queries/cancel-message.ts',
    text: "AND status = 'queued'",
    replacement: '',
    test: onlyForward,
  },
  {
    name: 'canceled messages claimed',
    file: 'packages/db/src/queries/message-claims.ts',
    text: 'AND message.is_waiting\n    RETURNING',
    replacement: 'RETURNING',
    test: onlyForward,
  },
  {
    name: 'content of another device',
    file: 'packages/db/src/queries/message-content.ts',
    text: 'WHERE id = ${id} AND device_id = ${deviceId} AND direction',
    replacement: 'WHERE id = ${id} AND direction',
    test: {
      file: ofStatus,
      title: 'only the recipient and the sending device report on a message and get its content',
    },
  },
  {
    name: 'media without all their parts accepted',
    file: 'packages/db/src/queries/accept-messages.ts',
    text: ' AND has_room AND is_complete',
    replacement: ' AND has_room',
    test: {
      file: ofWaitingMedia,
      title: 'media with a missing part is not accepted, and its idempotency key stays unused',
    },
  },
  {
    name: 'parts of media of another account',
    file: 'packages/db/src/queries/accept-messages.ts',
    text: ' AND part.account_id = given.account_id',
    replacement: '',
    test: { file: ofWaitingMedia, title: 'parts of another account are not used' },
  },
  {
    name: 'parts of media in any order',
    file: 'packages/db/src/queries/accept-messages.ts',
    text: ' ORDER BY part.position',
    replacement: ' ORDER BY part.bytes',
    test: { file: ofWaitingMedia, title: 'media is joined in the order of its parts' },
  },
  {
    name: 'escape sequence cut in two',
    file: 'apps/api/src/http/parse-json-object.ts',
    text: '(last - first) % 2 === 0',
    replacement: 'false',
    test: {
      file: 'apps/api/test/parse-json-object.test.ts',
      title: 'a long string is decoded like JSON.parse does, wherever it is cut',
    },
  },
  {
    name: 'receipt forgotten with a claim that Postgres lost',
    file: 'apps/worker/src/session/store-receipt.ts',
    text: 'addressees.find(waId) ?? null',
    replacement: 'null',
    test: {
      file: 'system-tests/receipts.test.ts',
      title: 'believes the recipient of a message also when a crash of Postgres has undone its claim',
    },
  },
  {
    name: 'upload that Postgres has stored taken for lost',
    file: 'apps/worker/src/outbox/content.ts',
    text: 'if (stored) return stored',
    replacement: '',
    test: {
      file: 'system-tests/lost-answer.test.ts',
      title: 'a file of a data: URL is sent when the answer of Postgres to its upload is lost',
    },
  },
  {
    name: 'link generation ignored',
    file: 'packages/db/src/queries/unsendable-messages.ts',
    text: 'message.link_generation <> device.link_generation',
    replacement: 'false',
    test: ofModel,
  },
  {
    name: 'message of a former link claimed',
    file: 'packages/db/src/queries/message-claims.ts',
    text: 'AND device.link_generation = message.link_generation',
    replacement: '',
    test: {
      file: 'packages/db/test/waiting-messages.test.ts',
      title: 'are neither listed nor claimed, also before they have failed',
    },
  },
  {
    name: 'received messages stored as often as they come',
    file: 'packages/db/src/queries/received-messages.ts',
    text: "AND known.direction = 'in'",
    replacement: "AND known.direction = 'out'",
    test: ofModel,
  },
  {
    name: 'what was sent today not counted',
    file: 'packages/db/src/queries/sent-today.ts',
    text: "sent_at >= date_trunc('day', now(), 'UTC')",
    replacement: "sent_at >= 'infinity'",
    test: {
      file: 'system-tests/sender-control.test.ts',
      title: 'holds what is over the daily cap, also after a change of owner, until the cap is raised',
    },
  },
  {
    name: 'daily cap not kept',
    file: 'apps/worker/src/outbox/pacer.ts',
    text: 'count.total() < dailyCap',
    replacement: 'count.total() <= dailyCap',
    test: {
      file: 'apps/worker/test/pacer.test.ts',
      title: 'counts what was sent earlier in the day, and waits for the next UTC day',
    },
  },
  {
    name: 'addresses behind names not judged',
    file: 'apps/worker/src/media/public-lookup.ts',
    text: 'const isRefused = !error && addresses.some(isForbidden)',
    replacement: 'const isRefused = false',
    test: {
      file: 'apps/worker/test/forbidden-media.test.ts',
      title: 'cannot rebind its name to an internal address after the check',
    },
  },
  {
    name: 'idempotency key ignored',
    file: 'apps/api/src/messages/send.ts',
    text: 'findIdempotencyKey(call, input.idempotency_key)',
    replacement: 'undefined',
    test: {
      file: 'apps/api/test/idempotency.test.ts',
      title: '50 concurrent equal requests send one message',
    },
  },
  {
    name: 'payload of an idempotency key not compared',
    file: 'apps/api/src/messages/accepted-message.ts',
    text: 'if (payloadHash !== message.idempotency?.payloadHash)',
    replacement: 'if (false)',
    test: {
      file: 'apps/api/test/idempotency.test.ts',
      title: 'a different payload returns 422: {"message":"other"}',
      written: { title: 'a different payload returns 422: %j' },
    },
  },
  {
    name: 'messages of any account canceled',
    file: 'packages/db/src/queries/cancel-message.ts',
    text: 'account_id = ${accountId} AND id',
    replacement: 'id',
    test: {
      file: 'apps/api/test/message-control.test.ts',
      title: 'finds only messages of the account',
    },
  },
  {
    name: 'devices of any account found',
    file: 'packages/db/src/queries/devices.ts',
    text: 'and(eq(devices.accountId, accountId), isNull(devices.deletedAt))',
    replacement: 'isNull(devices.deletedAt)',
    test: {
      file: 'apps/api/test/devices.test.ts',
      title: 'devices of another account look like unknown ones in every operation',
    },
  },
  {
    name: 'places for devices counted without a lock',
    file: 'packages/db/src/queries/devices.ts',
    text: ".for('no key update')",
    replacement: '',
    test: { file: 'apps/api/test/devices.test.ts', title: 'enforces the limit for 50 concurrent requests' },
  },
  {
    name: 'revoked key accepted',
    file: 'packages/db/src/queries/api-keys.ts',
    text: 'and(inArray(apiKeys.hash, given), isNull(apiKeys.revokedAt))',
    replacement: 'inArray(apiKeys.hash, given)',
    test: { file: ofKeys, title: 'revokes a key at once in every process' },
  },
  {
    name: 'hash of a key not compared',
    file: 'packages/db/src/queries/api-keys.ts',
    text: "and(inArray(apiKeys.hash, given), isNull(apiKeys.revokedAt)))\n  return new Map(rows.map(({ hash, ...holder }) => [hash.toString('base64'), holder]))",
    replacement:
      'isNull(apiKeys.revokedAt))\n  return new Map(hashes.flatMap((given) => rows.slice(0, 1).map((holder) => [given, holder])))',
    test: {
      file: 'apps/api/test/credentials.test.ts',
      title: 'a key that is unknown, malformed or not text returns 401 invalid_api_key and is not echoed',
    },
  },
  {
    name: 'expired key accepted',
    file: 'apps/api/src/credentials/api-key-cache.ts',
    text: 'if (principal.keyExpiresAt &&',
    replacement: 'if (false && principal.keyExpiresAt &&',
    test: { file: ofKeys, title: 'accepts an expiry, after which the key is refused as expired' },
  },
  {
    name: 'rate limit off',
    file: 'apps/api/src/limits/charge.ts',
    text: 'if (isAllowed) return',
    replacement: 'return',
    test: {
      file: 'apps/api/test/limits.test.ts',
      title: 'are counted in all processes together, and every response tells what is left',
    },
  },
  {
    name: 'epoch of a QR code ignored',
    file: 'apps/api/src/pairing/request-qr.ts',
    text: 'qr?.epoch === pairing.epoch &&',
    replacement: 'qr !== undefined &&',
    test: {
      file: 'apps/api/test/pairing.test.ts',
      title: 'a QR code from a former owner is ignored, whether retained or announced',
    },
  },
  {
    name: 'blocked sender accepted',
    file: 'packages/db/src/queries/accept-messages.ts',
    text: ' AND (away_reason IS NULL OR away_reason NOT IN (${blocking(sql)}))',
    replacement: '',
    test: {
      file: 'apps/api/test/send-message.test.ts',
      title: 'is refused with the reason and stores nothing when WhatsApp blocks the sender',
    },
  },
  {
    name: 'the other network accepted',
    file: 'packages/db/src/queries/installation.ts',
    text: 'if (found.network !== null &&',
    replacement: 'if (false && found.network !== null &&',
    test: {
      file: 'apps/worker/test/worker-process.test.ts',
      title: 'a worker of the other network touches no credentials and ends with one message',
    },
  },
  {
    name: 'certificate of any host accepted',
    file: 'packages/db/src/tls.ts',
    text: 'ssl: verified }',
    replacement: 'ssl: { ...verified, checkServerIdentity: () => undefined } }',
    test: { file: 'packages/db/test/tls.test.ts', title: 'verify-full refuses a server of another name' },
  },
  {
    name: 'API may read credentials',
    file: 'packages/db/src/rights.ts',
    text: "device_auth: '',",
    replacement: "device_auth: 'SELECT',",
    test: {
      file: 'system-tests/database-roles.test.ts',
      title: 'the role api may not: SELECT * FROM device_auth',
      written: { title: 'the role %s may not: %s' },
    },
  },
  {
    name: 'not ready without Redis',
    file: 'apps/api/src/readiness.ts',
    text: "isReady: installation === 'ok',",
    replacement: "isReady: installation === 'ok' && redis === 'ok',",
    test: {
      file: 'apps/api/test/outages.test.ts',
      title: 'is ready without Redis, but not without Postgres',
    },
  },
  {
    name: 'metrics on every address',
    file: 'apps/api/src/start.ts',
    text: 'startInternalServer(metrics, {',
    replacement: 'startInternalServer({ ...metrics, host: http.host }, {',
    test: {
      file: 'apps/api/test/main.test.ts',
      title: 'serves metrics on loopback when the API listens on every address',
    },
  },
]
