/**
 * SQL of a device's pace where its account has one too: the lower of both, of which 0 is unlimited. An account's pace
 * is set by an ADMIN, so its devices cannot go beyond it. Null where neither has one.
 */
export function tightestPace(own: string, ofAccount: string): string {
  return `coalesce(least(nullif(${own}, 0), nullif(${ofAccount}, 0)), ${own}, ${ofAccount})`
}
