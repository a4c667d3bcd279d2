/**
 * Every advisory lock of the gateway: two uses of one number would block each other. Processes of several versions run
 * side by side during a rolling upgrade, so a number that was used once never gets another meaning.
 */
export const advisoryLocks = {
  migration: 7_767_428,
  firstAdmin: 7_767_429,
  partitions: 7_767_430,
  housekeeping: 7_767_431,
  /** With a hash of the content as a second number. */
  mediaContent: 7_767_440,
  /** With the id of the account as a second number. */
  mediaOfAccount: 7_767_441,
  /** With the id of the account as a second number. */
  uploadsOfAccount: 7_767_442,
  /** With a hash of the address as a second number. */
  linksToAddress: 7_767_443,
} as const
