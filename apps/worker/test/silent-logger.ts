import type { UserFacingSocketConfig } from 'baileys'

const nothing = () => undefined

/** For Baileys. */
export const silent: NonNullable<UserFacingSocketConfig['logger']> = {
  level: 'silent',
  child: () => silent,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
}
