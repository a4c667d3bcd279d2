import type { InProcessAnswer } from './in-process.ts'

const ids = /(^|_)(id|key|four)$|^email$/
const times = /_(at|until|in)$/
const headerNames = ['allow', 'content-type', 'retry-after', 'www-authenticate', 'idempotent-replayed']

/**
 * Makes the answers to two accounts comparable: moments count as equal, ids are numbered in the order in which they
 * come, so that only which are the same counts. `values` are told apart by name wherever they stand.
 */
export function makeComparison(values: Record<string, string>) {
  const numbers = new Map<unknown, string>()
  const numberOf = (value: unknown) => {
    const number = numbers.get(value) ?? `#${numbers.size + 1}`
    numbers.set(value, number)
    return number
  }
  const named = Object.entries(values).sort(([, one], [, other]) => other.length - one.length)
  const nameIn = (text: string) =>
    named.reduce((rest, [name, value]) => rest.replaceAll(value, `{{${name}}}`), text)

  const simplifyBody = (text: string): unknown =>
    JSON.parse(text, (name, value) => {
      if (typeof value !== 'string' && typeof value !== 'number') return value
      if (times.test(name)) return 'a time'
      if (ids.test(name)) return numberOf(value)
      return typeof value === 'string' ? nameIn(value) : value
    })

  return {
    values,
    simplify: ({ status, headers, text }: InProcessAnswer) => ({
      status,
      headers: headerNames.map((name) => headers.get(name)),
      body: text === '' ? '' : simplifyBody(text),
    }),
  }
}
