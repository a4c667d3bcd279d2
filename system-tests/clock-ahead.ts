import { shortLease } from '@wagate/test-kit/short-lease'

/** The environment of a system whose workers start with a clock that is ahead by so much. */
export const withClockAhead = (aheadMs: () => number) => (name: string) => ({
  ...shortLease,
  ...(name.startsWith('worker') && {
    NODE_OPTIONS: `--import ${new URL('./clock-ahead.mjs', import.meta.url).href}`,
    CLOCK_AHEAD_MS: aheadMs().toString(),
  }),
})
