import { phoneExpectation } from '@wagate/shared/phone'
import { z } from 'zod'
import { shown } from './nearest-name.ts'
import { list, phone } from './parameter-types.ts'

/** Phone numbers, each once. The sentence names the first that is none, and its place. */
export function phoneList(max: number) {
  const items = list(max, 'integer')
  const message = expectationOf(max)
  return z
    .union([z.string({ error: message }), z.int({ error: message }), items.given], { error: message })
    .transform((value, issues): string[] => {
      const given = items.itemsOf(value) ?? []
      const numbers = new Set<string>()
      for (const [index, item] of given.entries()) {
        const parsed = phone.safeParse(item)
        if (!parsed.success) {
          const what = typeof item === 'string' ? shown(item) : 'a value'
          const sentence = `has ${what} at place ${index + 1}, which is not a phone number: 7 to 15 digits with country prefix`
          issues.addIssue({ code: 'custom', message: sentence })
          return z.NEVER
        }
        numbers.add(parsed.data)
      }
      if (numbers.size === 0) issues.addIssue({ code: 'custom', message })
      return [...numbers]
    })
}

/** `number`, or what is wrong with the item, for a sentence. */
export type GivenPhone = { given: string; number: string } | { given: string; fault: string }

/**
 * The items of a list, in their order: each is a phone number or says why it is none. Empty items of an array remain, so that
 * a caller finds the results of its items at their places.
 */
export function givenPhones(max: number) {
  const items = list(max, 'integer')
  const message = expectationOf(max)
  return z
    .union([z.string({ error: message }), z.int({ error: message }), items.given], { error: message })
    .transform((value, issues): GivenPhone[] => {
      const given = items.itemsOf(value, { keepsEmpty: true }) ?? []
      if (given.length === 0) issues.addIssue({ code: 'custom', message })
      return given.map(toGivenPhone)
    })
}

function toGivenPhone(item: unknown): GivenPhone {
  const given = typeof item === 'string' ? item : JSON.stringify(item)
  const parsed = phone.safeParse(item)
  if (parsed.success) return { given, number: parsed.data }
  return { given, fault: parsed.error.issues[0]?.message ?? phoneExpectation }
}

const expectationOf = (max: number) =>
  `must be 1 to ${max.toLocaleString('en')} phone numbers, as a list or separated by commas`
