import type { InProcessAnswer } from './in-process.ts'

const ids = /(^|_)(id|key|four)$|^email$|^next_(after|before)$/
const times = /(^|_)(at|until|in)$|^next_updated_after$/
const headerNames = ['allow', 'content-type', 'retry-after', 'www-authenticate', 'idempotent-replayed']

/** The moment until which a limit refuses is a time as well. */
const comparable = (name: string, value: string | null) =>
  name === 'retry-after' && value ? 'a time' : value

/**
 * Makes responses to two accounts comparable: treats all times as equal and numbers ids in the order in which they
 * appear, so that only their equality matters. `values` are replaced by their names.
 */
export function makeComparison(values: Record<string, string>) {
  const numbers = new Map<string, string>()
  // An account and a key may have the same id by chance.
  const numberOf = (name: string, value: string | number) => {
    const number = numbers.get(`${name} ${value}`) ?? `#${numbers.size + 1}`
    numbers.set(`${name} ${value}`, number)
    return number
  }
  // A phone number may contain a short id by chance.
  const named = Object.entries(values).filter(([, value]) => value.length >= 8)
  const nameIn = (text: string) =>
    named.reduce((rest, [name, value]) => rest.replaceAll(value, `{{${name}}}`), text)

  const simplifyBody = (text: string): unknown =>
    JSON.parse(text, (name, value) => {
      // Written in the background, so it may or may not be there yet.
      if (name === 'last_used_at') return 'a time'
      if (typeof value !== 'string' && typeof value !== 'number') return value
      if (times.test(name)) return 'a time'
      if (name === 'created_by') return numberOf('key_id', value)
      if (name === 'url' && typeof value === 'string') return nameIn(value.replace(/wag_link_\w+$/, 'a link'))
      if (name === 'token' || name === 'secret') return 'a secret'
      if (ids.test(name)) return numberOf(name, value)
      return typeof value === 'string' ? nameIn(value) : value
    })

  return {
    values,
    simplify: ({ status, headers, text }: InProcessAnswer) => ({
      status,
      headers: headerNames.map((name) => comparable(name, headers.get(name))),
      body: text === '' ? '' : simplifyBody(text),
    }),
  }
}
