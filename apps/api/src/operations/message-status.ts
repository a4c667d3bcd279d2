import { findTimedMessage } from '@wagate/db/queries/messages/message-timeline'
import { exampleMessage, toMessageObject } from '@wagate/shared/objects/message-object'
import { exampleTimeline, timelineObject, toTimelineObject } from '@wagate/shared/objects/timeline-object'
import { listedMessage, toWaitingFields } from '@wagate/shared/objects/waiting-fields'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { AppError } from '../errors/app-error.ts'
import { findWaits } from '../messages/waits.ts'
import { messageId } from '../parameters/parameter-types.ts'

export const messageStatus = defineOperation({
  name: 'message-status',
  summary: 'Return a message with its current status and how it got there',
  methods: ['GET', 'POST'],
  changes: false,
  parameters: z.object({ message_id: messageId.describe('ID from the response of the send') }),
  fields: z.object({ ...listedMessage.shape, timeline: timelineObject }),
  errors: ['message_not_found'],
  example: {
    given: { message_id: exampleMessage.message_id },
    answer: { ...exampleMessage, ...toWaitingFields(undefined), timeline: exampleTimeline },
  },
  async handle({ message_id }, { context: { config, db, media }, principal: { accountId } }) {
    const message = await findTimedMessage(db, accountId, message_id)
    if (!message) throw new AppError('message_not_found', 'The account has no such message.')
    const shown = toMessageObject(message, await media.links.getLinker())
    const waits = await findWaits(db, accountId, [message], config)
    return { ...shown, ...toWaitingFields(waits.get(message.id)), timeline: toTimelineObject(message) }
  },
})
