import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { MessageErrorCode } from '@wagate/shared/message-errors'
import type { DeviceContext } from '../context.ts'
import type { OutboxDevice } from './outbox-device.ts'

/** Records how messages ended, and tells the requests that wait for it. */
export type MessageResults = {
  /** It can never be sent. */
  fail(message: WaitingMessage, code: MessageErrorCode, sentence?: string): Promise<void>
  /** WhatsApp took it. */
  recordSent(message: WaitingMessage): Promise<void>
}

export function makeMessageResults(
  { events, metrics }: Pick<DeviceContext, 'events' | 'metrics'>,
  { id: deviceId, recorder }: Pick<OutboxDevice, 'id' | 'recorder'>,
): MessageResults {
  /** Whether a process had subscribed to the latest event of this device, probably for a request that waits. */
  let isAwaited = false

  async function announce(
    { id }: WaitingMessage,
    status: 'sent' | 'failed',
    isStored: boolean,
  ): Promise<void> {
    const event = { kind: 'message', messageId: id, status, ...(isStored && { isStored }) } as const
    isAwaited = (await events.publish(deviceId, event)) > 0
  }

  return {
    async fail(message, code, sentence) {
      await recorder.fail(message, code, sentence)
      metrics.failures.inc({ code })
      void announce(message, 'failed', false)
    },
    async recordSent(message) {
      const isStored = await recorder.recordSent(message, isAwaited)
      void announce(message, 'sent', isStored)
    },
  }
}
