import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { type NumberResolver, numbersPerLookUp } from '../outbox/number-resolver.ts'
import type { WASocket } from '../session/connection/socket.ts'
import { makeLookUp } from '../session/contacts/look-up.ts'
import type { DeviceContext } from './device-context.ts'

/**
 * Publishes which numbers are on WhatsApp. Numbers that are asked for during a look-up go together into the next one.
 * Without an answer the API asks again.
 */
export function makeNumberChecks(
  { events, logger }: Pick<DeviceContext, 'events' | 'logger'>,
  device: { id: number; resolver: NumberResolver },
  openSock: () => WASocket | undefined,
): { ask(numbers: string[]): void } {
  const { id: deviceId, resolver } = device
  const lookUps = makeNaturalBatch<string, void>(
    async (numbers) => {
      const sock = openSock()
      if (sock) await resolver.resolve(numbers, makeLookUp(sock))
      for (const number of numbers) tell(number)
      return numbers.map(() => undefined)
    },
    { itemsMax: numbersPerLookUp },
  )

  /** Returns false when it is not known yet. */
  function tell(number: string): boolean {
    const jid = resolver.find(number)
    if (jid === undefined) return false
    void events.publish(deviceId, { kind: 'number', number, jid })
    return true
  }

  return {
    ask(numbers) {
      // Those of one turn of the event loop go into one look-up.
      for (const number of numbers) {
        if (tell(number)) continue
        lookUps
          .add(number)
          .catch((error) => logger.warn({ err: error, deviceId }, 'Looking up a number failed'))
      }
    },
  }
}
