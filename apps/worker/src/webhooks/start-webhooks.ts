import type { EventHints } from '@wagate/queue/event-hints'
import { consumeWebhookHints } from '@wagate/queue/webhook-hints'
import { makeOutageLog } from '@wagate/runtime/outage-log'
import type { Running } from '@wagate/runtime/running'
import { type DispatcherOptions, startDispatcher } from './dispatcher.ts'

type Options = DispatcherOptions & { redisUrl: string; eventHints: EventHints }

/** A dispatcher and what wakes it before its next poll. Without Redis, webhooks are delivered as well. */
export function startWebhooks({ redisUrl, eventHints, ...options }: Options): Running {
  const dispatcher = startDispatcher({ ...options, publishEventHint: eventHints.publish })
  const { failed: onError } = makeOutageLog(options.logger, 'redis')
  const hints = consumeWebhookHints(redisUrl, { onHint: dispatcher.wake, onError })
  const leave = eventHints.onEvents(dispatcher.wakeAccount)
  return {
    async close() {
      await Promise.all([hints.close(), leave(), dispatcher.close()])
    },
  }
}
