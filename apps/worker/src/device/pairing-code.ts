import type { WASocket } from '../session/connection/socket.ts'
import { askForPairingCode, type PairingCodeResult } from '../session/linking/pairing-code.ts'
import type { DeviceScope } from './device-scope.ts'

/** `expiresAtMs` on this machine's clock: the connection ends with its last QR code, and the code with it. */
export type ValidPairingCode = PairingCodeResult & { expiresAtMs: number }

/** One QR code of 60 s and five of 20 s. */
const lifeMs = 160_000
const answerMsMax = 10_000

/** The pairing code of one connection. It is asked for once; a refusal or silence is forgotten, to be asked again. */
export function makePairingCode(sock: WASocket, number: string, announce: (forMs: number) => Promise<void>) {
  let expiresAtMs: number | undefined
  let asked: Promise<ValidPairingCode> | undefined

  async function ask(expiresAtMs: number): Promise<ValidPairingCode> {
    try {
      const result = await askForPairingCode(sock, number, answerMsMax)
      if (result.kind === 'refused') asked = undefined
      else await announce(expiresAtMs - Date.now())
      return { ...result, expiresAtMs }
    } catch (error) {
      asked = undefined
      throw error
    }
  }

  return {
    noteQrShown() {
      expiresAtMs ??= Date.now() + lifeMs
    },
    get(): Promise<ValidPairingCode> | undefined {
      if (expiresAtMs === undefined) return undefined
      asked ??= ask(expiresAtMs)
      return asked
    },
  }
}

export async function publishPairingCode(
  { context, id, lease, logger }: DeviceScope,
  code: Promise<ValidPairingCode>,
): Promise<void> {
  try {
    const given = await code
    if (given.kind === 'refused') {
      await context.events.publish(id, { kind: 'pairing-code-refused', error: given.error })
      logger.info({ error: given.error }, 'WhatsApp refused to give out a pairing code')
    } else {
      const { code, expiresAtMs } = given
      await context.events.publish(id, { kind: 'pairing-code', epoch: lease.epoch, code, expiresAtMs })
    }
  } catch (error) {
    logger.warn({ err: error }, 'Requesting a pairing code failed')
  }
}
