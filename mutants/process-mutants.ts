import type { Mutant } from './mutant.ts'

/** Of the memory and the start of a process. */
export const processMutants: Mutant[] = [
  {
    name: 'missing partition taken for refused content',
    file: 'packages/db/src/failures.ts',
    text: " && code !== '23514'",
    replacement: '',
    test: {
      file: 'packages/db/test/failures.test.ts',
      title: 'is not of the content: a partition that does not exist',
      written: { title: 'is not of the content: %s' },
    },
  },
  {
    name: 'unknown error of Postgres taken for refused content',
    file: 'packages/db/src/failures.ts',
    text: "return code === '53100' ? 'storage_full' : 'unavailable'",
    replacement: "return code === '53100' ? 'storage_full' : isOutage(error) ? 'unavailable' : undefined",
    test: {
      file: 'system-tests/refused-writes.test.ts',
      title: 'nothing that arrives while Postgres is read-only is lost, or stored twice',
      written: { title: 'nothing that arrives while Postgres %s is lost, or stored twice' },
    },
  },
  {
    name: 'peer that switches protocols still heard',
    file: 'packages/runtime/src/http-client.ts',
    text: "reject(withCode('EPROTO', 'The peer has switched protocols'))",
    replacement: '',
    test: {
      file: 'packages/runtime/test/http-client.test.ts',
      title: 'of a peer that answers another protocol',
      written: { title: 'of a peer that answers %s' },
    },
  },
  {
    name: 'interim answers without an end',
    file: 'packages/runtime/src/http-client.ts',
    text: 'interim > interimMax',
    replacement: 'interim > 1e12',
    test: {
      file: 'packages/runtime/test/http-client.test.ts',
      title: 'of a peer that answers hints without an end',
      written: { title: 'of a peer that answers %s' },
    },
  },
  {
    name: 'look-ups of one owner take the places of all',
    file: 'packages/runtime/src/host-names.ts',
    text: 'places.acquire(owner, 1, signal)',
    replacement: "places.acquire('anyone', 1, signal)",
    test: {
      file: 'packages/runtime/test/host-names.test.ts',
      title: 'a thousand silent names of one owner keep no name of another owner waiting',
    },
  },
  {
    name: 'look-up that continues when its request has ended',
    file: 'packages/runtime/src/host-names.ts',
    text: 'startDeadline(deadlineMs, signal)',
    replacement: 'startDeadline(deadlineMs)',
    test: {
      file: 'packages/runtime/test/host-names.test.ts',
      title: 'a canceled look-up gives its place to the next at once, and leaves nothing behind',
    },
  },
  {
    name: 'name servers of the setting not asked',
    file: 'packages/runtime/src/host-names.ts',
    text: 'if (servers) resolver.setServers(servers)',
    replacement: '',
    test: {
      file: 'packages/runtime/test/host-names.test.ts',
      title: 'six.example has these addresses: 2001:db8::6',
      written: { title: '%s has these addresses: %s' },
    },
  },
  {
    name: 'request that waits for an agent beyond its deadline',
    file: 'packages/runtime/src/deadline.ts',
    text: 'Promise.race([given, work])',
    replacement: 'work',
    test: {
      file: 'packages/runtime/test/http-client.test.ts',
      title: 'an agent that gives no connection does not keep a request from its deadline',
    },
  },
  {
    name: 'connection that outlives its request',
    file: 'packages/runtime/src/http-client.ts',
    text: 'destroyAtEnd(request, signal)\n  // An agent',
    replacement: '// An agent',
    test: {
      file: 'packages/runtime/test/http-client-properties.test.ts',
      title: 'a conversation ends by its deadline whatever the peer does, and leaves nothing behind',
    },
  },
  {
    name: 'answer that is read beyond the deadline',
    file: 'packages/runtime/src/http-client.ts',
    text: 'answer.destroy(signal.reason)',
    replacement: 'undefined',
    test: {
      file: 'packages/runtime/test/http-client.test.ts',
      title: 'so does the reading of its answer',
    },
  },
  {
    name: 'garbage collected while messages are sent',
    file: 'packages/runtime/src/collect-at-rest.ts',
    text: 'utilization > utilizationMax || ',
    replacement: '',
    test: {
      file: 'packages/runtime/test/collect-at-rest.test.ts',
      title: 'garbage is collected at rest only, and again after 5 minutes if the heap has grown by half',
    },
  },
  {
    name: 'key agreement with a key of an unknown type',
    file: 'apps/worker/src/preload/curve-keys.ts',
    text: 'publicKey.length !== 33 || publicKey[0] !== publicKeyTag',
    replacement: 'publicKey.length !== 33',
    test: {
      file: 'apps/worker/test/preload.test.ts',
      title: 'are those of libsignal, and read no DER',
    },
  },
  {
    name: 'sign of a public key ignored',
    file: 'apps/worker/src/preload/curve-signatures.ts',
    text: 'bytes.readUInt8(31) | sign',
    replacement: 'bytes.readUInt8(31)',
    test: {
      file: 'apps/worker/test/preload.test.ts',
      title: 'find what libsignal finds, in native code',
    },
  },
  {
    name: 'malformed key verified by Node',
    file: 'apps/worker/src/preload/curve-signatures.ts',
    text: 'isInit || !isUsual(key, message, signature)',
    replacement: 'isInit',
    test: {
      file: 'apps/worker/test/preload.test.ts',
      title: 'find what libsignal finds, in native code',
    },
  },
  {
    name: 'entry in use dropped from a full map',
    file: 'apps/worker/src/caches/recent-map.ts',
    text: 'if (value !== undefined) put(key, value)',
    replacement: '',
    test: {
      file: 'apps/worker/test/recent-map.test.ts',
      title: 'a full map drops the entry that was not used for the longest time',
    },
  },
  {
    name: 'an idle connection to Postgres counts as silent',
    file: 'packages/db/src/client.ts',
    text: 'if (!this.isAwaited()) return',
    replacement: '',
    test: {
      file: 'packages/db/test/tls.test.ts',
      title:
        'a silent partition ends a query within 7 seconds under TLS, an idle connection is kept, and the pool heals',
    },
  },
  {
    name: 'a query that was not yet written counts as one without an answer',
    file: 'packages/db/src/client.ts',
    text: 'if (this.#traffic() !== before) return',
    replacement: '',
    test: {
      file: 'packages/db/test/connections.test.ts',
      title:
        'a query is answered when its connection was last used 6 seconds ago, and after a pause of the process',
    },
  },
  {
    name: 'a process that was paused takes its connections for silent',
    file: 'apps/worker/src/session/connection/keep-alive.ts',
    text: 'if (wasPaused) for',
    replacement: 'if (wasPaused && nowMs < 0) for',
    test: {
      file: 'apps/worker/test/keep-alive.test.ts',
      title:
        'after a pause of the process, connections are given time for the frames that have not been read',
    },
  },
  {
    name: 'a connection is given up although its answer has arrived',
    file: 'apps/worker/src/session/connection/keep-alive.ts',
    text: 'await turn()\n  try {',
    replacement: 'try {',
    test: {
      file: 'apps/worker/test/keep-alive.test.ts',
      title: 'an answer that has arrived when its time ends is read before the connection would be given up',
    },
  },
  {
    name: 'a ping in the middle of a handshake',
    file: 'apps/worker/src/session/connection/keep-alive.ts',
    text: 'if (!isReady) return',
    replacement: '',
    test: {
      file: 'apps/worker/test/keep-alive.test.ts',
      title: 'nothing is sent before the handshake has ended, which may take a period and 4 seconds',
    },
  },
  {
    name: 'the pause between connections to Postgres does not grow',
    file: 'packages/db/src/client.ts',
    text: 'growingPauseMs(failures + 1, reconnectPause)',
    replacement: 'growingPauseMs(failures > 0 ? 1 : 1, reconnectPause)',
    test: {
      file: 'packages/db/test/handshake.test.ts',
      title: 'in each stage of the handshake (close) is asked again after a growing pause',
      written: { title: 'in each stage of the handshake (%s) is asked again after a growing pause' },
    },
  },
  {
    name: 'a removed device stays in memory',
    file: 'apps/worker/src/shards/hosted-shard.ts',
    text: '    shard.devices.delete(deviceId)\n',
    replacement: '',
    test: {
      file: 'apps/worker/test/hosted-shard.test.ts',
      title: 'a device is forgotten once it is removed',
    },
  },
]
