import { defineConfig } from 'vitest/config'
import { LongestFirst } from './packages/test-kit/src/run/longest-first.ts'
import { SecondsReporter } from './packages/test-kit/src/run/seconds-reporter.ts'

const conditions = ['source', 'node', 'import', 'module', 'default']

// Projects do not inherit these settings.
const shared = {
  ssr: { resolve: { conditions } },
  // Where the global setup runs.
  environments: { __vitest__: { resolve: { conditions } } },
}
const timeouts = { testTimeout: 30_000, hookTimeout: 30_000, expect: { poll: { timeout: 20_000 } } }

/** They measure how long something takes, so they run last, with nothing beside them. */
const timed = ['apps/api/test/{answer-in-time,limits}.test.ts']

export default defineConfig({
  ...shared,
  test: {
    sequence: { sequencer: LongestFirst },
    // Keeps what is transformed, by its text: a file of the API loads in 3 s instead of 5.
    experimental: { fsModuleCache: true },
    ...(process.env.TEST_SECONDS && { reporters: ['default', new SecondsReporter()] }),
    globalSetup: ['packages/test-kit/src/servers/test-servers.ts'],
    // Projects run one after the other.
    projects: [
      {
        ...shared,
        test: {
          ...timeouts,
          // Files share processes, in which modules are loaded once, and `leaks.ts` finds what a file leaves there.
          isolate: false,
          setupFiles: ['packages/test-kit/src/run/leaks.ts'],
          name: 'shared',
          include: [
            '{packages,apps}/*/test/**/*.test.ts',
            '{bench,devnet,faults,mutants}/test/**/*.test.ts',
            'system-tests/{*,repository/*}.test.ts',
          ],
          exclude: ['**/node_modules/**', ...timed],
          sequence: { groupOrder: 0 },
          // Half of the time they wait, for a lease, for Postgres or for a timer.
          maxWorkers: 4,
        },
      },
      {
        ...shared,
        test: { ...timeouts, name: 'timed', include: timed, sequence: { groupOrder: 1 }, maxWorkers: 1 },
      },
    ],
  },
})
