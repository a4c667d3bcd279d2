import { findTimedMessage } from '@wagate/db/queries/messages/message-timeline'
import { exampleMessage, toMessageObject } from '@wagate/shared/objects/message-object'
import { exampleTimeline, timelineObject, toTimelineObject } from '@wagate/shared/objects/timeline-object'
import { listedMessage, toWaitingFields } from '@wagate/shared/objects/waiting-fields'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { AppError } from '../errors/app-error.ts'
import { reference } from '../messages/send-contract.ts'
import { findWaits } from '../messages/waits.ts'
import { messageId } from '../parameters/parameter-types.ts'
import { unlessGiven } from '../parameters/parse-parameters.ts'

export const messageStatus = defineOperation({
  name: 'message-status',
  summary: 'Return a message with its current status and how it got there',
  methods: ['GET', 'POST'],
  changes: false,
  parameters: z.object({
    message_id: unlessGiven(
      ['reference'],
      messageId.optional().describe('ID from the response of the send. Required without `reference`'),
    ),
    reference: reference
      .optional()
      .describe(
        '`reference` of the send. Of several messages with the same one, the newest is returned: `messages` lists all',
      ),
  }),
  fields: z.object({ ...listedMessage.shape, timeline: timelineObject }),
  errors: ['missing_parameter', 'message_not_found'],
  example: {
    given: { message_id: exampleMessage.message_id },
    answer: { ...exampleMessage, ...toWaitingFields(undefined), timeline: exampleTimeline },
  },
  async handle(given, { context: { config, db, media }, principal: { accountId } }) {
    const message = await findTimedMessage(db, accountId, given)
    if (!message) throw new AppError('message_not_found', 'The account has no such message.')
    const shown = toMessageObject(message, await media.links.getLinker())
    const waits = await findWaits(db, accountId, [message], config)
    return { ...shown, ...toWaitingFields(waits.get(message.id)), timeline: toTimelineObject(message) }
  },
})
