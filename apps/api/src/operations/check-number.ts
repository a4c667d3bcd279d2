import { type Contact, findContacts } from '@wagate/db/queries/contacts/known-contacts'
import { findSender } from '@wagate/db/queries/devices/devices'
import { subscriberOf } from '@wagate/shared/phone'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { AppError } from '../errors/app-error.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { waitForDevice } from '../events/wait-for-device.ts'
import { exampleAddress } from '../messages/send-contract.ts'
import { senderNotConnected, senderNotFound } from '../messages/send-errors.ts'
import { contactFields, toContactFields } from '../objects/contact-fields.ts'
import { lid, phone } from '../parameters/parameter-types.ts'
import { unlessGiven } from '../parameters/parse-parameters.ts'
import { type GivenPhone, givenPhones } from '../parameters/phone-list.ts'
import { type GivenContact, getContact } from '../parameters/recipient.ts'

const numbersMax = 100

const exists = z.boolean().describe('Cached for up to 7 days, for a missing account up to an hour')
const jid = z
  .string()
  .optional()
  .describe('Address of the account at WhatsApp, which may contain the number in another form')

const result = z.object({
  given: z.string().describe('The item of `numbers`, as text'),
  number: z.string().optional().describe('In digits. Missing if the item is not a phone number'),
  lid: contactFields.lid,
  username: contactFields.username,
  exists: exists.optional().describe('Missing if there is an `error`'),
  jid,
  code: z
    .enum(['invalid_parameter', 'unavailable'])
    .optional()
    .describe(
      '`invalid_parameter`: not a phone number. `unavailable`: WhatsApp did not say it in time, ask again',
    ),
  error: z.string().optional().describe('What is wrong, for people'),
})

export const checkNumber = defineOperation({
  name: 'check-number',
  summary: 'Check, through a connected sender, whether phone numbers have a WhatsApp account',
  methods: ['GET', 'POST'],
  // It uses the sender's session, as a send does.
  changes: true,
  parameters: z.object({
    sender: phone.describe('Phone number of a linked sender of the account'),
    number: unlessGiven(
      ['lid', 'numbers'],
      phone
        .optional()
        .describe('Phone number to check, with country prefix. Required without `lid` and `numbers`'),
    ),
    lid: lid.optional().describe('LID of a contact whose number to check, if the account knows it'),
    numbers: givenPhones(numbersMax)
      .optional()
      .describe(
        `Up to ${numbersMax} phone numbers, in place of \`number\`. Each counts as one request in rate limits`,
      ),
  }),
  fields: z.object({
    number: z.string().optional().describe('Missing with `numbers`'),
    lid: contactFields.lid,
    username: contactFields.username,
    exists: exists
      .optional()
      .describe('Cached for up to 7 days, for a missing account up to an hour. Missing with `numbers`'),
    jid,
    results: z
      .array(result)
      .optional()
      .describe('With `numbers`: one result for each of them, in their order'),
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
  async handle({ sender, numbers, ...given }, call) {
    if (!numbers) return checkOne(sender, given, call)
    for (const name of ['number', 'lid'] as const)
      if (given[name] !== undefined) throw invalidParameter('numbers', `cannot be given with ${name}`)
    return { results: await checkMany(sender, numbers, call) }
  },
})

async function checkOne(sender: string, given: GivenContact, call: Call) {
  const contact = await getContact(call.context.db, call.principal.accountId, given)
  const { number } = contact
  if (number === null)
    throw new AppError('number_unknown', 'WhatsApp has not told the phone number of this contact.')
  const jids = await awaitNumberChecks(call, await getLinkedDevice(sender, call), [number])
  return { ...toContactFields(contact), number, ...toAccountFields(jids.get(number) ?? null) }
}

type Result = z.infer<typeof result>

async function checkMany(sender: string, given: GivenPhone[], call: Call): Promise<Result[]> {
  const deviceId = await getLinkedDevice(sender, call)
  const numbers = given.flatMap((each) => ('number' in each ? [each.number] : []))
  /** The form of each subscriber that WhatsApp is asked for: two forms have one answer. */
  const asked = new Map(numbers.toReversed().map((number) => [subscriberOf(number), number]))
  if (asked.size > 1) await chargeFurther(call, asked.size - 1)
  const [contacts, jids] = await Promise.all([
    findContacts(call.context.db, call.principal.accountId, numbers),
    asked.size === 0
      ? new Map<string, string | null>()
      : awaitNumberChecks(call, deviceId, [...asked.values()]),
  ])
  const contactOf = new Map(contacts.map((contact) => [contact.number, contact]))
  return given.map((each) => {
    if ('fault' in each)
      return { given: each.given, code: 'invalid_parameter', error: `The number ${each.fault}.` }
    return toResult(
      each,
      contactOf.get(each.number),
      jids.get(asked.get(subscriberOf(each.number)) ?? each.number),
    )
  })
}

function toResult(
  { given, number }: { given: string; number: string },
  contact: Contact | undefined,
  jid: string | null | undefined,
): Result {
  const named = { given, ...(contact && toContactFields(contact)), number }
  if (jid === undefined) return { ...named, code: 'unavailable', error: unavailable().message }
  return { ...named, ...toAccountFields(jid) }
}

const toAccountFields = (jid: string | null) => ({ exists: jid !== null, ...(jid !== null && { jid }) })

/** The request itself has been charged. */
function chargeFurther(call: Call, count: number): Promise<void> {
  const { keyId, accountId } = call.principal
  return call.charge(
    { limit: 'requests', key: String(keyId), count },
    { limit: 'accountRequests', key: String(accountId), count },
  )
}

async function getLinkedDevice(sender: string, call: Call): Promise<number> {
  const found = await findSender(call.context.db, call.principal.accountId, sender)
  if (!found) throw senderNotFound(sender)
  if (!found.isLinked) throw senderNotConnected()
  return found.deviceId
}

const answerMsMax = 4000

/**
 * Asks the owner of the device. Sends commands again every second, because they are lost if the owner dies: one for each number
 * that is left, because workers of versions before this one answer one of a command. Returns what is known in time, null for a
 * number without an account. Throws `unavailable` if it is nothing.
 */
async function awaitNumberChecks(
  call: Call,
  deviceId: number,
  numbers: string[],
): Promise<Map<string, string | null>> {
  const { enqueueCommand } = call.context.notify
  const jids = new Map<string, string | null>()
  const left = new Set(numbers)
  let hasAsked = false

  function ask(): void {
    const [number, ...others] = left
    if (number === undefined) return
    if (!hasAsked)
      enqueueCommand({ kind: 'check-number', deviceId, number, ...(others.length > 0 && { others }) })
    else for (const each of left) enqueueCommand({ kind: 'check-number', deviceId, number: each })
    hasAsked = true
  }

  await waitForDevice(call, deviceId, {
    isRelevant(event) {
      if (event.kind !== 'number' || !left.delete(event.number)) return false
      jids.set(event.number, event.jid)
      return left.size === 0
    },
    async find() {
      ask()
      return left.size === 0 ? jids : undefined
    },
    forMs: answerMsMax,
    withoutRedis: unavailable,
  })
  if (jids.size === 0) throw unavailable()
  return jids
}

function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'The number cannot be checked right now. Try again.', {
    retryAfterSeconds: 5,
    cause,
  })
}
