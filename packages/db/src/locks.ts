/**
 * Every advisory lock of the gateway, in one place: two uses of one number would block each other. The numbers are
 * shared by all versions that run during a rolling deployment, so one that was used keeps its meaning.
 */
export const advisoryLocks = {
  migration: 7_767_428,
  firstAdmin: 7_767_429,
  partitions: 7_767_430,
  cleaning: 7_767_431,
} as const
