import { findContact } from '@wagate/db/queries/contacts/known-contacts'
import { lidKey } from '@wagate/shared/contact-key'
import { formatEventId } from '@wagate/shared/event-ids'
import { messageTypes } from '@wagate/shared/message-kinds'
import { exampleMessage, type MessageRow, toMessageObject } from '@wagate/shared/objects/message-object'
import { listedMessage, toWaitingFields } from '@wagate/shared/objects/waiting-fields'
import { messageStatuses } from '@wagate/shared/statuses'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { reference } from '../messages/send-contract.ts'
import { findWaits } from '../messages/waits.ts'
import { changeCursor, integer, lid, messageId, moment, oneOf, phone } from '../parameters/parameter-types.ts'

const messagesMax = 200

const parameters = z
  .object({
    limit: integer(1, messagesMax).optional().describe('Page size, 200 by default'),
    before: messageId.optional().describe('Only messages older than this one'),
    after: messageId
      .optional()
      .describe(
        'Only messages newer than this one: `next_after` of an earlier answer. Without `before`, a page has the oldest of them',
      ),
    updated_after: changeCursor
      .optional()
      .describe(
        'Only messages that were accepted, were received or have changed since: `next_updated_after` of an earlier answer, or a time',
      ),
    from: moment.optional().describe('Only messages created at this time or later'),
    to: moment.optional().describe('Only messages created before this time'),
    sender: phone.optional().describe('Only messages of this sender'),
    number: phone.optional().describe('Only messages to or from this phone number'),
    lid: lid.optional().describe('Only messages to or from this LID'),
    direction: oneOf(['in', 'out']).optional().describe('Only received messages, or only sent ones'),
    type: oneOf(messageTypes).optional().describe('Only messages of this type'),
    status: oneOf(messageStatuses).optional().describe('Only messages with this status'),
    reference: reference.optional().describe('Only messages with this `reference`'),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ['from'],
    error: 'must not be later than to',
  })
  .refine(({ before, after, updated_after }) => updated_after === undefined || !(before ?? after), {
    path: ['updated_after'],
    error: 'cannot be combined with before or after',
  })

export const messages = defineOperation({
  name: 'messages',
  summary: 'Return the history of the account with filters, newest message first, up to 200 at a time',
  methods: ['GET'],
  changes: false,
  parameters,
  fields: z.object({
    messages: z.array(listedMessage),
    has_more: z
      .boolean()
      .describe(
        'There may be more messages already; request them with `next_updated_after` or `next_after` if this request had such a parameter, otherwise with `next_before`',
      ),
    next_before: messageId
      .nullable()
      .describe(
        'Value of `before` for the next page; null on the last page. With a filter, a page may be short or empty without being the last',
      ),
    next_after: messageId
      .nullable()
      .describe(
        'Value of `after` for newer messages. It passes none of the last ten seconds, so that none is missed; those are returned again',
      ),
    next_updated_after: z
      .string()
      .nullable()
      .describe('With `updated_after`: its value for the next request, also when no message has changed'),
  }),
  errors: ['message_not_found', 'cursor_expired', 'rate_limited'],
  example: {
    given: { limit: 1 },
    answer: {
      messages: [{ ...exampleMessage, ...toWaitingFields(undefined) }],
      has_more: false,
      next_before: null,
      next_after: null,
      next_updated_after: null,
    },
  },
  async handle(
    { limit = messagesMax, updated_after: updatedAfter, ...given },
    { context: { config, db, readDb, messages, media }, principal: { accountId }, deadline: { signal } },
  ) {
    const contactKey =
      given.lid === undefined ? undefined : (await findContact(db, accountId, lidKey(given.lid))).key
    const query = { ...given, contactKey }
    const linkTo = await media.links.getLinker()
    const show = async (found: MessageRow[]) => {
      const waits = await findWaits(readDb, accountId, found, config)
      return found.map((message) => ({
        ...toMessageObject(message, linkTo),
        ...toWaitingFields(waits.get(message.id)),
      }))
    }
    if (updatedAfter) {
      const page = await messages.history.listUpdated(accountId, { ...query, updatedAfter, limit }, signal)
      return {
        messages: await show(page.messages),
        has_more: page.hasMore,
        next_before: null,
        next_after: null,
        next_updated_after: formatEventId(page.next),
      }
    }
    const page = await messages.history.list(accountId, { ...query, limit }, signal)
    return {
      messages: await show(page.messages),
      has_more: page.hasMore,
      next_before: page.nextBefore ?? null,
      next_after: page.nextAfter ?? null,
      next_updated_after: null,
    }
  },
})
