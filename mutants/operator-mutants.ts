import type { Mutant } from './mutant.ts'

/** Of what operators run and watch. */
export const operatorMutants: Mutant[] = [
  {
    name: 'housekeeping without a partition in its health',
    file: 'apps/worker/src/upkeep/housekeeping.ts',
    text: '\n        keptAtMs = performance.now()',
    replacement: '',
    test: {
      file: 'apps/worker/test/housekeeping.test.ts',
      title: 'a step that fails does not stop the others',
    },
  },
  {
    name: 'missing setting of a command shown as a stack',
    file: 'packages/runtime/src/run-command.ts',
    text: 'if (error instanceof ConfigurationError)',
    replacement: 'if (error instanceof RangeError)',
    test: {
      file: 'packages/runtime/test/run-command.test.ts',
      title: 'a missing setting ends a command with a sentence',
      written: { title: '%s ends a command with a sentence' },
    },
  },
]
