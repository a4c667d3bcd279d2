import { expect } from 'vitest'

/** For facts inside the simulator, which has no events to wait for. */
export const eventually = <T>(read: () => T) => expect.poll(read, { interval: 5, timeout: 10_000 })
