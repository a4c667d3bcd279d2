import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { Setback } from '@wagate/shared/timeline-marks'
import type { DeviceContext } from '../context.ts'
import type { OutboxDevice } from './outbox-device.ts'
import type { SetbackDetails } from './retries.ts'

type Parts = {
  context: Pick<DeviceContext, 'logger' | 'setbacks'>
  device: Pick<OutboxDevice, 'lease' | 'retries'>
}

/** Remembers that the message has to be sent again, and stores why. If that cannot be stored, it is not tried again. */
export async function noteSetback(
  { context, device }: Parts,
  { id, createdAt }: Pick<WaitingMessage, 'id' | 'createdAt'>,
  setback: Setback,
  details: SetbackDetails = {},
): Promise<void> {
  const sentence = device.retries.note(id, setback, details)
  await context.setbacks
    .add({ fence: device.lease, id, createdAt, setback, sentence })
    .catch((error) => context.logger.warn({ err: error }, 'Storing a setback failed'))
}
