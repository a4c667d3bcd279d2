import { defineConfig } from 'vitest/config'

const conditions = ['source', 'node', 'import', 'module', 'default']

export default defineConfig({
  ssr: { resolve: { conditions } },
  // Where the global setup runs.
  environments: { __vitest__: { resolve: { conditions } } },
  test: {
    include: [
      '{packages,apps}/*/test/**/*.test.ts',
      '{devnet,faults,bench}/test/**/*.test.ts',
      'system-tests/**/*.test.ts',
    ],
    globalSetup: ['packages/test-kit/src/servers/test-servers.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Many tests wait for a lease or a time-out of another process: two at a time also on two processors.
    maxWorkers: 2,
  },
})
