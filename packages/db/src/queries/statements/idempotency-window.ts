/** SQL: idempotency keys that were first used at this moment or before it have expired. */
export const idempotencyWindowStart = "now() - interval '24 hours'"
