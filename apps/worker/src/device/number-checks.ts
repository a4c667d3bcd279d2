import { makeNaturalBatch } from '@wagate/shared/natural-batch'
import type { WASocket } from 'baileys'
import type { DeviceContext } from '../context.ts'
import { makeLookUp } from '../outbox/look-up.ts'

const atATimeMax = 50

/**
 * Answers, to whoever listens, which numbers are on WhatsApp. What comes while a look-up is on its way goes
 * together into the next. Without an answer the API asks again.
 */
export function makeNumberChecks(
  { recipients, events, logger }: Pick<DeviceContext, 'recipients' | 'events' | 'logger'>,
  deviceId: number,
  openSock: () => WASocket | undefined,
): { ask(number: string): void } {
  const lookUps = makeNaturalBatch<string, void>(
    async (numbers) => {
      const sock = openSock()
      if (sock) await recipients.resolve([...new Set(numbers)], makeLookUp(sock))
      for (const number of numbers) tell(number)
      return numbers.map(() => undefined)
    },
    { itemsMax: atATimeMax },
  )

  /** True when it is known. */
  function tell(number: string): boolean {
    const jid = recipients.find(number)
    if (jid === undefined) return false
    void events.publish(deviceId, { kind: 'number', number, jid })
    return true
  }

  return {
    ask(number) {
      if (tell(number)) return
      lookUps
        .add(number)
        .catch((error) => logger.warn({ err: error, deviceId }, 'A number could not be looked up'))
    },
  }
}
