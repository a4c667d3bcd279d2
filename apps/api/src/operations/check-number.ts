import { findSender } from '@wagate/db/queries/devices/devices'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { AppError } from '../errors/app-error.ts'
import { waitForDevice } from '../events/wait-for-device.ts'
import { exampleAddress } from '../messages/send-contract.ts'
import { senderNotConnected, senderNotFound } from '../messages/send-errors.ts'
import { contactFields, toContactFields } from '../objects/contact-fields.ts'
import { lid, phone } from '../parameters/parameter-types.ts'
import { unlessGiven } from '../parameters/parse-parameters.ts'
import { getContact } from '../parameters/recipient.ts'

export const checkNumber = defineOperation({
  name: 'check-number',
  summary: 'Check, through a connected sender, whether a phone number has a WhatsApp account',
  methods: ['GET', 'POST'],
  // It uses the sender's session, as a send does.
  changes: true,
  parameters: z.object({
    sender: phone.describe('Phone number of a linked sender of the account'),
    number: unlessGiven(
      ['lid'],
      phone.optional().describe('Phone number to check, with country prefix. Required without `lid`'),
    ),
    lid: lid.optional().describe('LID of a contact whose number to check, if the account knows it'),
  }),
  fields: z.object({
    number: z.string(),
    lid: contactFields.lid,
    username: contactFields.username,
    exists: z.boolean().describe('Cached for up to 7 days, for a missing account up to an hour'),
    jid: z
      .string()
      .optional()
      .describe('Address of the account at WhatsApp, which may contain the number in another form'),
  }),
  errors: ['missing_parameter', 'sender_not_found', 'sender_not_connected', 'number_unknown'],
  example: {
    given: exampleAddress,
    answer: {
      number: exampleAddress.number,
      exists: true,
      jid: `${exampleAddress.number}@s.whatsapp.net`,
    },
  },
  async handle({ sender, ...given }, call) {
    const contact = await getContact(call.context.db, call.principal.accountId, given)
    const { number } = contact
    if (number === null)
      throw new AppError('number_unknown', 'WhatsApp has not told the phone number of this contact.')
    const found = await findSender(call.context.db, call.principal.accountId, sender)
    if (!found) throw senderNotFound(sender)
    if (!found.isLinked) throw senderNotConnected()
    const { jid } = await awaitNumberCheck(call, found.deviceId, number)
    return { ...toContactFields(contact), number, exists: jid !== null, ...(jid !== null && { jid }) }
  },
})

const answerMsMax = 4000

type NumberCheck = { jid: string | null }

/**
 * Asks the owner of the device. Sends the command again every second, because it is lost if the owner dies. Throws
 * `unavailable`. `jid` is null for a number without an account.
 */
async function awaitNumberCheck(call: Call, deviceId: number, number: string): Promise<NumberCheck> {
  let checked: NumberCheck | undefined
  const found = await waitForDevice(call, deviceId, {
    isRelevant(event) {
      if (event.kind !== 'number' || event.number !== number) return false
      checked = { jid: event.jid }
      return true
    },
    async find() {
      if (!checked) call.context.notify.enqueueCommand({ kind: 'check-number', deviceId, number })
      return checked
    },
    forMs: answerMsMax,
    withoutRedis: unavailable,
  })
  if (!found) throw unavailable()
  return found
}

function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'The number cannot be checked right now. Try again.', {
    retryAfterSeconds: 5,
    cause,
  })
}
