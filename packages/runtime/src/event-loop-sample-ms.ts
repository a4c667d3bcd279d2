/**
 * How often a process measures its event loop lag, which is part of what it measures. The default of 10 ms wakes an idle
 * process 100 times a second, and used to be most of what it did.
 */
export const eventLoopSampleMs = 100
