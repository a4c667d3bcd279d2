/** Documentation of a code. `isTemporary`: the same request or message may succeed later without a change. */
export type Guidance = { meaning: string; action: string; isTemporary: boolean }

export const permanent = (meaning: string, action: string): Guidance => ({
  meaning,
  action,
  isTemporary: false,
})
export const temporary = (meaning: string, action: string): Guidance => ({
  meaning,
  action,
  isTemporary: true,
})
