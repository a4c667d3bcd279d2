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

/** They start many processes, which share the processors with them. */
const systems = ['system-tests/*.test.ts', '{devnet,faults}/test/**/*.test.ts']

// Files share processes, in which modules are loaded once, and `leaks.ts` finds what a file leaves there.
const inSharedProcesses = { isolate: false, setupFiles: ['packages/test-kit/src/run/leaks.ts'] }

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
          ...inSharedProcesses,
          name: 'systems',
          include: systems,
          sequence: { groupOrder: 0 },
          // Many tests wait for a lease or a time-out of another process.
          maxWorkers: 3,
        },
      },
      {
        ...shared,
        test: {
          ...timeouts,
          ...inSharedProcesses,
          name: 'parts',
          include: [
            '{packages,apps}/*/test/**/*.test.ts',
            '{bench,mutants}/test/**/*.test.ts',
            'system-tests/repository/*.test.ts',
          ],
          exclude: ['**/node_modules/**', ...timed],
          sequence: { groupOrder: 1 },
          // Half of the time they wait for Postgres and for timers.
          maxWorkers: 4,
        },
      },
      {
        ...shared,
        test: { ...timeouts, name: 'timed', include: timed, sequence: { groupOrder: 2 }, maxWorkers: 1 },
      },
    ],
  },
})
