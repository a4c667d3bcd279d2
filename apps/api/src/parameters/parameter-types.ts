import { parseEventId } from '@wagate/shared/event-ids'
import { type EventType, eventTypeNames } from '@wagate/shared/event-types'
import { parsePhone, phoneExpectation } from '@wagate/shared/phone'
import { z } from 'zod'
import { notOneOf } from './issue-sentences.ts'
import { orNearest, shown } from './nearest-name.ts'
import { parseMoment } from './parse-moment.ts'

// Every type accepts a JSON value and the same value as text, for query strings and forms.

export const phone = z
  .union([z.string(), z.int().positive()], { error: phoneExpectation })
  .transform((value, issues) => {
    const parsed = parsePhone(String(value))
    if ('digits' in parsed) return parsed.digits
    issues.addIssue({ code: 'custom', message: parsed.fault })
    return z.NEVER
  })
  .meta({ title: 'phone number' })

export function integer(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum.toLocaleString('en')} to ${maximum.toLocaleString('en')}`
  return z
    .union([z.int({ error: message }).min(minimum, message).max(maximum, message), digits(message)], {
      error: message,
    })
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, message)
}

/** Number() ignores the white space. */
const digits = (message: string) => z.string({ error: message }).regex(/^\s*\d{1,15}\s*$/, message)

/** A Postgres integer. */
export const recordId = integer(1, 2 ** 31 - 1)

export const messageId = z.uuid('must be a message_id: the UUID that a send answered, or that messages shows')

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: ({ input }) => notOneOf(input, values) })
}

const lidMessage = 'must be a LID: its digits, as in the field lid'

export const lid = z.string({ error: lidMessage }).regex(/^[0-9]{5,20}$/, lidMessage)

/** `default` becomes null. */
export function orDefault(minimum: number, maximum: number) {
  const message = `must be a whole number from ${minimum.toLocaleString('en')} to ${maximum.toLocaleString('en')}, or default`
  return z.union([z.literal('default', message).transform(() => null), integer(minimum, maximum)], {
    error: message,
  })
}

/**
 * A list, or a text with its items, separated by commas, or with a JSON array. Spaces around items and empty items count for
 * nothing, unless `keepsEmpty` and they are those of an array. Items are counted before anything is read: a body may have tens of
 * thousands. `itemsOf` returns undefined for more than `max`.
 */
export function list(max: number, itemType: 'string' | 'integer') {
  const items = itemType === 'string' ? { type: 'string' as const } : { type: ['string', 'integer'] as const }
  return {
    given: z.array(z.unknown()).meta({ items, maxItems: max }),
    itemsOf(value: unknown, { keepsEmpty = false } = {}): unknown[] | undefined {
      const array = Array.isArray(value) ? value : readArray(value)
      // An item more than there may be, and one for a comma at the end.
      const found = array ?? String(value).split(',', max + 2)
      if (found.length > max + 1) return undefined
      const named = found
        .map((item) => (typeof item === 'string' ? item.trim() : item))
        .filter((item) => item !== '' || (keepsEmpty && array))
      const isEmptyText = named.length === 0 && !Array.isArray(value)
      return named.length <= max && !isEmptyText ? named : undefined
    },
  }
}

/** Workflow tools write arrays in forms as JSON. */
function readArray(value: unknown): unknown[] | undefined {
  if (typeof value !== 'string' || !/^\s*\[/.test(value)) return undefined
  try {
    const parsed: unknown = JSON.parse(value)
    return Array.isArray(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

const typesMessage = 'must be types of events, separated by commas'

/** As many as there will ever be, and repeated ones. */
const eventTypes = list(200, 'string')

export const eventTypeList = z
  .union([z.string(), eventTypes.given], { error: typesMessage })
  .transform((value, issues): EventType[] => {
    const names = eventTypes.itemsOf(value)
    const unknown = names?.find((name) => !eventTypeNames.some((known) => known === name))
    if (names && unknown === undefined) return names as EventType[]
    const message = typeof unknown === 'string' ? sentenceOfUnknownType(unknown) : typesMessage
    issues.addIssue({ code: 'custom', message })
    return z.NEVER
  })

function sentenceOfUnknownType(name: string): string {
  const nearest = orNearest(name, eventTypeNames)
  const others = nearest === '' ? `. The types are ${eventTypeNames.join(', ')}` : nearest
  return `has ${shown(name)}, which is not a type of event${others}`
}

const namesMax = 20

/** A list of these names. Repeated ones count once. */
export function namesOf<const Names extends readonly string[]>(names: Names) {
  const message = `must be one or more of ${names.join(', ')}, separated by commas`
  const { given, itemsOf } = list(namesMax, 'string')
  return z.union([z.string(), given], { error: message }).transform((value, issues): Names[number][] => {
    const found = itemsOf(value) ?? []
    if (found.length > 0 && found.every((name) => names.some((known) => known === name)))
      return [...new Set(found as Names[number][])]
    issues.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}

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

const flagWords: Record<string, boolean> = {
  ...{ true: true, yes: true, on: true, 1: true },
  ...{ false: false, no: false, off: false, 0: false },
}
const flagCharsMax = 10
const flagMessage = 'must be true or false'

/** Also as Python (True), PHP (1) and forms (on) write it. */
export const flag = z
  .union(
    [
      z.boolean(),
      z.string({ error: flagMessage }).meta({ enum: ['true', 'false'] }),
      z.number({ error: flagMessage }).meta({ enum: [1, 0] }),
    ],
    { error: flagMessage },
  )
  .transform((value, issues): boolean => {
    const word = typeof value === 'string' ? value.slice(0, flagCharsMax).trim().toLowerCase() : String(value)
    if (Object.hasOwn(flagWords, word)) return flagWords[word] === true
    issues.addIssue({ code: 'custom', message: flagMessage })
    return z.NEVER
  })

const momentMessage =
  'must be a date, a time of day and a time zone, such as 2030-01-31T12:00:00Z or 2030-01-31 12:00:00+0200, or Unix time in seconds'
const noZoneMessage =
  'has no time zone, so it would mean another time on another server: add Z for UTC, or an offset such as +02:00'

/** Requires a time zone: a local time would have a different meaning on another server. */
export const moment = z
  .union(
    [
      z.string({ error: momentMessage }).meta({ format: 'date-time' }),
      z.number({ error: momentMessage }).meta({ minimum: 1e9, maximum: 1e10 - 1 }),
    ],
    { error: momentMessage },
  )
  .transform((value, issues): Date => {
    const found = parseMoment(value)
    if (found instanceof Date) return found
    issues.addIssue({ code: 'custom', message: found === 'no_zone' ? noZoneMessage : momentMessage })
    return z.NEVER
  })

const dayMessage = 'must be a day, such as 2030-01-31'

/** As it was given: YYYY-MM-DD. */
export const day = z.iso
  .date(dayMessage)
  .refine((value) => value >= '2000-01-01', dayMessage)
  .meta({ title: 'day (YYYY-MM-DD)' })

const changeCursorMessage = `must be next_updated_after of an earlier answer, or a time with a zone, such as 2030-01-31T12:00:00Z`

export const changeCursor = z
  .string({ error: changeCursorMessage })
  .transform((value, issues) => {
    const after = parseEventId(value) ?? moment.safeParse(value).data
    if (after !== undefined) return after
    issues.addIssue({ code: 'custom', message: changeCursorMessage })
    return z.NEVER
  })
  .meta({ title: 'cursor or time' })
