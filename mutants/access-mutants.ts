import type { Mutant } from './mutant.ts'

const ofKeys = 'apps/api/test/keys.test.ts'

/** Keys, accounts, networks and what may be reached. */
export const accessMutants: Mutant[] = [
  {
    name: 'addresses behind names not judged',
    file: 'apps/worker/src/session/network/public-lookup.ts',
    text: 'const isRefused = !error && addresses.some(isForbidden)',
    replacement: 'const isRefused = false',
    test: {
      file: 'apps/worker/test/redirected-media.test.ts',
      title: 'cannot rebind its name to an internal address after the check',
    },
  },
  {
    name: 'messages of any account canceled',
    file: 'packages/db/src/queries/messages/cancel-message.ts',
    text: 'account_id = ${accountId} AND id',
    replacement: 'id',
    test: {
      file: 'apps/api/test/message-control.test.ts',
      title: 'finds only messages of the account',
    },
  },
  {
    name: 'messages of any account counted',
    file: 'packages/db/src/queries/messages/statistics.ts',
    text: 'AND account_id = ${accountId} ${ofSender}',
    replacement: '${ofSender}',
    test: {
      file: 'apps/api/test/statistics.test.ts',
      title: 'counts those of one sender, in either form of its number, and none of another account',
    },
  },
  {
    name: 'devices of any account found',
    file: 'packages/db/src/queries/devices/devices.ts',
    text: 'and(eq(devices.accountId, accountId), isNull(devices.deletedAt))',
    replacement: 'isNull(devices.deletedAt)',
    test: {
      file: 'apps/api/test/devices.test.ts',
      title: 'devices of another account look like unknown ones in every operation',
    },
  },
  {
    name: 'places for devices counted without a lock',
    file: 'packages/db/src/queries/devices/devices.ts',
    text: ".for('no key update')",
    replacement: '',
    test: { file: 'apps/api/test/devices.test.ts', title: 'enforces the limit for 50 concurrent requests' },
  },
  {
    name: 'passkey step of a former owner shown',
    file: 'apps/api/src/pairing/passkey-step.ts',
    text: 'event.epoch !== pairing.epoch || ',
    replacement: '',
    test: {
      file: 'apps/api/test/passkey.test.ts',
      title: 'what WhatsApp asked a former owner is over',
    },
  },
  {
    name: 'code shown before it can be confirmed',
    file: 'apps/api/src/pairing/passkey-step.ts',
    text: 'isConfirming ? event.code : null',
    replacement: 'event.code',
    test: { file: 'apps/api/test/passkey.test.ts', title: 'the code is shown once it can be confirmed' },
  },
  {
    name: 'passkey required before its challenge is stored',
    file: 'apps/worker/src/device/passkey.ts',
    text: '    await events.retain(id, event)\n',
    replacement:
      '    await setPairingStep(db, lease, id, { desiredRev, step, forMs })\n    await events.retain(id, event)\n',
    test: {
      file: 'apps/worker/test/device-passkey.test.ts',
      title: 'whoever reads that a passkey is required finds the challenge',
    },
  },
  {
    name: 'secret of a scanned QR code kept for a passkey',
    file: 'apps/worker/src/session/linking/passkey.ts',
    text: 'secret.replace()',
    replacement: '',
    test: {
      file: 'apps/worker/test/passkey.test.ts',
      title: 'WhatsApp asks, and the secret of the QR code is worth nothing any more',
    },
  },
  {
    name: 'passkey asked for by anyone',
    file: 'apps/worker/src/session/linking/passkey.ts',
    text: 'if (isLinked(creds) || !isFromWhatsApp(stanza)) return',
    replacement: '',
    test: {
      file: 'apps/worker/test/passkey.test.ts',
      title: 'a person who asks gets nothing, nor does anyone from a linked device',
    },
  },
  {
    name: 'address of a proxy not judged',
    file: 'apps/worker/src/session/network/proxy-agent.ts',
    text: 'return allowsPrivateHosts ? lookup',
    replacement: 'return lookup ? lookup',
    test: {
      file: 'apps/worker/test/proxy-agent.test.ts',
      title: 'is none at a private address, written or behind a name',
    },
  },
  {
    name: 'downloads of a sender past its proxy',
    file: 'apps/worker/src/session/network/whatsapp-route.ts',
    text: '...(agent && { agent }),',
    replacement: '',
    test: {
      file: 'apps/worker/test/whatsapp-fetch.test.ts',
      title: 'goes through the proxy of its sender, which looks the name up',
    },
  },
  {
    name: 'downloads of unknown senders',
    file: 'apps/worker/src/session/network/whatsapp-fetch.ts',
    text: 'if (!(route instanceof WhatsAppRoute))',
    replacement: 'if (!(route instanceof WhatsAppRoute) && route !== undefined)',
    test: {
      file: 'apps/worker/test/whatsapp-fetch.test.ts',
      title: 'refuses what is not known to belong to a sender, which may have a proxy',
    },
  },
  {
    name: 'answer of a proxy taken for that of WhatsApp',
    file: 'apps/worker/src/session/connection/reconnect-policy.ts',
    text: 'if (end.proxyError) return',
    replacement: 'if (end.proxyError && end.code === undefined) return',
    test: {
      file: 'apps/worker/test/reconnect-policy.test.ts',
      title: 'a proxy that fails says nothing about the sender, whatever its code is',
    },
  },
  {
    name: 'proxy of any account changed',
    file: 'packages/db/src/queries/devices/device-proxies.ts',
    text: 'if (changed.length === 0) return',
    replacement: '',
    test: { file: 'packages/db/test/device-proxies.test.ts', title: 'another account changes nothing' },
  },
  {
    name: 'revoked key accepted',
    file: 'packages/db/src/queries/accounts/api-keys.ts',
    text: 'inArray(apiKeys.hash, given), isNull(apiKeys.revokedAt),',
    replacement: 'inArray(apiKeys.hash, given),',
    test: { file: ofKeys, title: 'revokes a key at once in every process' },
  },
  {
    name: 'hash of a key not compared',
    file: 'packages/db/src/queries/accounts/api-keys.ts',
    text: "and(inArray(apiKeys.hash, given), isNull(apiKeys.revokedAt), or(isNull(sessions.keyId), isAwake)))\n  return new Map(rows.map(({ hash, ...holder }) => [hash.toString('base64'), holder]))",
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
    name: 'the other network accepted',
    file: 'packages/db/src/queries/statements/installation.ts',
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
    text: "device_auth: 'SELECT (device_id, type, id, used_on)',",
    replacement: "device_auth: 'SELECT',",
    test: {
      file: 'system-tests/database-roles.test.ts',
      title: 'the role api may not: SELECT * FROM device_auth',
      written: { title: 'the role %s may not: %s' },
    },
  },
  {
    name: 'not ready without Redis',
    file: 'apps/api/src/health/readiness.ts',
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
  {
    name: 'new contacts of the same number in another account',
    file: 'packages/db/src/queries/contacts/warm-up.ts',
    text: 'JOIN devices AS former USING (account_id, sender)',
    replacement: 'JOIN devices AS former USING (sender)',
    test: {
      file: 'packages/db/test/former-senders.test.ts',
      title: 'has nothing from the same number of another account',
    },
  },
]
