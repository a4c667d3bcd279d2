/** As they were when the process loaded this first: `leaks.ts` itself is evaluated before every file. */
export const realGlobals = {
  fetch,
  Date,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  performanceNow: performance.now,
}
