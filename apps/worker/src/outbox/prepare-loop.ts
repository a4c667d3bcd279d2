import { isMediaType } from '@wagate/shared/message-kinds'
import type { OutboxScope } from './outbox-scope.ts'
import type { makePreparation } from './preparation.ts'
import type { LanePlan, Turn } from './recipient-lanes.ts'

const preparationsMax = 4
/** Media that are prepared and wait for their turn to be sent. */
const preparedMax = 8

/** Prepares the media that may be sent next. */
export function makePrepareLoop(
  { device, maySend, waiting, work }: OutboxScope,
  prepareMedia: ReturnType<typeof makePreparation>,
): (plan: LanePlan) => void {
  const prepare = (turn: Turn) =>
    work.run(turn, 'prepare', async () => {
      const { message } = turn
      const prepared = await prepareMedia(message)
      device.retries.forget(message.id)
      if (prepared === 'failed') waiting.remove(message)
      if (prepared === 'unclaimed') waiting.skip(message)
    })

  return ({ unprepared, ready }) => {
    const prepared = ready.filter(({ message }) => isMediaType(message.type)).length
    for (const turn of unprepared) {
      if (!maySend() || work.count('prepare') >= preparationsMax || prepared >= preparedMax) return
      void prepare(turn)
    }
  }
}
