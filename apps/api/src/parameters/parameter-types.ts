import { parseEventId } from '@wagate/shared/event-ids'
import { type EventType, eventTypeNames } from '@wagate/shared/event-types'
import { parsePhone } from '@wagate/shared/phone'
import { z } from 'zod'

// Every type accepts a JSON value and the same value as text, for query strings and forms.

const phoneMessage = 'must be a phone number: 7 to 15 digits with country prefix'

export const phone = z
  .union([z.string(), z.int().positive()], { error: phoneMessage })
  .transform((value, issues) => {
    const digits = parsePhone(String(value))
    if (digits !== undefined) return digits
    issues.addIssue({ code: 'custom', message: phoneMessage })
    return z.NEVER
  })
  .meta({ title: 'phone number' })

export function integer(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum} to ${maximum}`
  return z
    .union([z.int().min(minimum).max(maximum), z.string().regex(/^\d{1,15}$/)], { error: message })
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, message)
}

/** A Postgres integer. */
export const recordId = integer(1, 2 ** 31 - 1)

export const messageId = z.uuid('must be a message_id')

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` })
}

const lidMessage = 'must be a LID: its digits, as in the field lid'

export const lid = z.string({ error: lidMessage }).regex(/^[0-9]{5,20}$/, lidMessage)

/** `default` becomes null. */
export function orDefault(minimum: number, maximum: number) {
  return z.union([z.literal('default').transform(() => null), integer(minimum, maximum)], {
    error: `must be a whole number from ${minimum} to ${maximum}, or default`,
  })
}

/**
 * A list, or a text with its items, separated by commas. They are counted before anything is read: a body may have tens of
 * thousands. `itemsOf` returns undefined for more than `max`.
 */
export function list(max: number, itemType: 'string' | 'integer') {
  const items = itemType === 'string' ? { type: 'string' as const } : { type: ['string', 'integer'] as const }
  return {
    given: z.array(z.unknown()).meta({ items, maxItems: max }),
    itemsOf(value: unknown): unknown[] | undefined {
      const found = Array.isArray(value) ? value : String(value).split(',', max + 1)
      return found.length <= max ? found : undefined
    },
  }
}

const typesMessage = 'must be types of events, separated by commas'

/** As many as there will ever be, and repeated ones. */
const eventTypes = list(200, 'string')

export const eventTypeList = z
  .union([z.string(), eventTypes.given], { error: typesMessage })
  .transform((value, issues): EventType[] => {
    const names = eventTypes.itemsOf(value)
    const types = names?.flatMap((name) => eventTypeNames.find((known) => known === name) ?? [])
    if (types && types.length === names?.length) return types
    issues.addIssue({ code: 'custom', message: typesMessage })
    return z.NEVER
  })

/** Characters are Unicode code points, close to what a person counts. */
export function text(charsMax: number) {
  const message = `must be a text of 1 to ${charsMax.toLocaleString('en')} characters`
  return z
    .string({ error: message })
    .min(1, message)
    .refine((value) => isWithin(value, charsMax), message)
    .meta({ maxLength: charsMax })
}

/** A code point takes one or two units of `length`. The length is checked first so that megabytes are never spread. */
function isWithin(value: string, charsMax: number): boolean {
  if (value.length <= charsMax) return true
  return value.length <= 2 * charsMax && [...value].length <= charsMax
}

export const flag = z
  .union([z.boolean(), z.enum(['true', 'false'])], { error: 'must be true or false' })
  .transform((value) => value === true || value === 'true')

const momentMessage = 'must be a time such as 2030-01-31T12:00:00Z'

const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Requires a time zone: a local time would have a different meaning on another server. */
export const moment = z.iso
  .datetime({ offset: true, error: momentMessage })
  .transform((value) => new Date(value))
  // Postgres has no year 0000, and ISO 8601 writes years beyond 9999 in a form that Postgres cannot read.
  .refine((value) => value.getTime() >= 0 && value.getTime() <= latestMs, momentMessage)

const changeCursorMessage = `must be next_updated_after of an earlier answer, or a time such as 2030-01-31T12:00:00Z`

export const changeCursor = z
  .string({ error: changeCursorMessage })
  .transform((value, issues) => {
    const after = parseEventId(value) ?? moment.safeParse(value).data
    if (after !== undefined) return after
    issues.addIssue({ code: 'custom', message: changeCursorMessage })
    return z.NEVER
  })
  .meta({ title: 'cursor or time' })
