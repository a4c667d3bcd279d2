import type { WaitingMessage } from '@wagate/db/queries/waiting-messages'
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
  function announce({ id }: WaitingMessage, status: 'sent' | 'failed', isStored = false): void {
    void events.publish(deviceId, { kind: 'message', messageId: id, status, ...(isStored && { isStored }) })
  }

  return {
    async fail(message, code, sentence) {
      await recorder.fail(message, code, sentence)
      metrics.failures.inc({ code })
      announce(message, 'failed')
    },
    async recordSent(message) {
      const isStored = await recorder.record(message.waId, 'sent', new Date(), message)
      announce(message, 'sent', isStored)
    },
  }
}
