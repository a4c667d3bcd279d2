/**
 * SQL: the lower of a device's pace and its account's, where 0 is unlimited. Null where neither is set. An ADMIN sets the
 * account's pace, so its devices cannot exceed it.
 */
export function tightestPace(own: string, ofAccount: string): string {
  return `coalesce(least(nullif(${own}, 0), nullif(${ofAccount}, 0)), ${own}, ${ofAccount})`
}
