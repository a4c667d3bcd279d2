import { expect, it } from 'vitest'
import { messageErrors } from '../src/message-errors.ts'

/** Programs depend on them. */
it('every published code of a message is kept', () => {
  expect(Object.keys(messageErrors)).toEqual(
    expect.arrayContaining([
      ...['recipient_not_on_whatsapp', 'sender_logged_out', 'sender_restricted'],
      ...['media_fetch_failed', 'media_fetch_timeout', 'media_too_large', 'media_type_mismatch'],
      ...['message_expired', 'rejected_by_whatsapp'],
    ]),
  )
})
