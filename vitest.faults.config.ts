import { defineConfig } from 'vitest/config'
import { isShort } from './faults/size.ts'
import base from './vitest.config.ts'

/** `npm run test:faults`: the whole system with faults in it. FAULTS=short is the form that runs with every change. */
export default defineConfig({
  ...base,
  test: {
    include: ['faults/*.fault.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // The short form leaves half of two processors idle. The long one is measured, so it runs alone.
    maxWorkers: isShort ? 2 : 1,
  },
})
