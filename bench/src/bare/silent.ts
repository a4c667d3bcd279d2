import type { UserFacingSocketConfig } from 'baileys'

type BaileysLogger = NonNullable<UserFacingSocketConfig['logger']>

const ignore = () => undefined

export const silent: BaileysLogger = {
  level: 'silent',
  child: () => silent,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
}
