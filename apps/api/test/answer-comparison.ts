import type { InProcessAnswer } from './in-process.ts'

const ids = /(^|_)(id|key|four)$|^email$/
const times = /_(at|until|in)$/
const headerNames = ['allow', 'content-type', 'retry-after', 'www-authenticate', 'idempotent-replayed']

/**
 * Makes the answers to two accounts comparable: moments count as equal, ids are numbered in the order in which they
 * come, so that only which are the same counts. `values` are told apart by name wherever they stand.
 */
export function makeComparison(values: Record<string, string>) {
  const numbers = new Map<string, string>()
  // An account and a key may happen to have the same id: that says nothing.
  const numberOf = (name: string, value: string | number) => {
    const number = numbers.get(`${name} ${value}`) ?? `#${numbers.size + 1}`
    numbers.set(`${name} ${value}`, number)
    return number
  }
  // A short id may stand in any phone number by chance.
  const named = Object.entries(values).filter(([, value]) => value.length >= 8)
  const nameIn = (text: string) =>
    named.reduce((rest, [name, value]) => rest.replaceAll(value, `{{${name}}}`), text)

  const simplifyBody = (text: string): unknown =>
    JSON.parse(text, (name, value) => {
      // Written in the background: it may be there already or not.
      if (name === 'last_used_at') return 'a time'
      if (typeof value !== 'string' && typeof value !== 'number') return value
      if (times.test(name)) return 'a time'
      if (name === 'created_by') return numberOf('key_id', value)
      if (ids.test(name)) return numberOf(name, value)
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
