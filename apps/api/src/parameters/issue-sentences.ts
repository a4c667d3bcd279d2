import type { z } from 'zod'
import { orNearest, shown } from './nearest-name.ts'

type Issue = Parameters<z.core.$ZodErrorMap>[0]

const typeNames: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
}

const formatNames: Record<string, string> = {
  email: 'an email address',
  uuid: 'a UUID, such as 019c13f5-6a3c-7bd2-9d2f-3f6a52b1c7e4',
  url: 'a URL',
  datetime: 'a time such as 2030-01-31T12:00:00Z',
}

/**
 * The sentence for a value that a type refuses without a sentence of its own. Those of the library name types and patterns,
 * which callers do not know.
 */
export function sentenceOfIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? 'of another type'}`
    case 'invalid_value':
      return notOneOf(issue.input, issue.values.map(String))
    case 'too_small':
      return `must have ${issue.inclusive === false ? 'more than' : 'at least'} ${amountOf(issue.origin, issue.minimum)}`
    case 'too_big':
      return `must have ${issue.inclusive === false ? 'fewer than' : 'at most'} ${amountOf(issue.origin, issue.maximum)}`
    case 'invalid_format':
      return `must be ${formatNames[issue.format] ?? 'in the form that /docs shows for this parameter'}`
    case 'invalid_union':
      return sentenceOfUnion(issue)
    default:
      return otherSentence
  }
}

/** What the last alternative says, which is the general one, as in `all`, or types of events. */
export function sentenceOfUnion(
  issue: Pick<Issue, 'code'> & { errors?: readonly { message?: string }[][] },
): string {
  return issue.errors?.at(-1)?.at(-1)?.message ?? otherSentence
}

const otherSentence = 'has a value that is not possible here: /docs shows which ones are'

function amountOf(origin: string, limit: number | bigint): string {
  const number = limit.toLocaleString('en')
  if (origin === 'string') return `${number} characters`
  return origin === 'array' || origin === 'set' ? `${number} items` : `the value ${number}`
}

/** Names the value, if it is short, and the one that was probably meant. */
export function notOneOf(given: unknown, known: readonly string[]): string {
  const all = `must be one of ${known.join(', ')}`
  if (typeof given !== 'string' || given.trim() === '') return all
  return `${all}. There is no ${shown(given)}${orNearest(given, known)}`
}
