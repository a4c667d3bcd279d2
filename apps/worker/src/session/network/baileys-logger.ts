import type { Logger } from '@wagate/runtime/logger'
import type { UserFacingSocketConfig } from 'baileys'

type BaileysLogger = NonNullable<UserFacingSocketConfig['logger']>

/** Logs only the constant sentence of Baileys' warnings: the objects beside it hold numbers, stanzas and keys. */
export function makeBaileysLogger(logger: Logger, deviceId: number): BaileysLogger {
  const ignore = () => undefined
  const pass = (given: unknown, sentence?: string) => {
    const said = sentence ?? (typeof given === 'string' ? given : undefined)
    if (said) logger.debug({ deviceId, baileys: said }, 'Baileys warning')
  }
  const self: BaileysLogger = {
    level: 'warn',
    child: () => self,
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: pass,
    error: pass,
  }
  return self
}
