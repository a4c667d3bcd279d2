/**
 * Settings with which another worker takes over in half of the usual time. `faults` and `system-tests/ownership.test.ts`
 * keep the usual one.
 */
export const shortLease = { LEASE_TTL_MS: '3000', HEARTBEAT_MS: '500' }
