import { defineConfig } from 'vitest/config'

export default defineConfig({
  ssr: { resolve: { conditions: ['source', 'node', 'import', 'module', 'default'] } },
  test: {
    include: ['{packages,apps}/*/test/**/*.test.ts', '{devnet,bench}/test/**/*.test.ts'],
    globalSetup: ['devnet/src/test-servers.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Many tests wait for a lease or a time-out of another process: two at a time also on two processors.
    maxWorkers: 2,
  },
})
