/** Also of generous people, who write spaces and brackets. */
const charsMax = 200

/** `fault`: what is wrong with the text, and what to do, for a sentence that begins with the name of the parameter. */
export type ParsedPhone = { digits: string } | { fault: string }

export const phoneExpectation = 'must be a phone number: 7 to 15 digits with country prefix'

/** What separates the groups of a number in one script or another: spaces, hyphens and dashes, dots, brackets. */
const separators = /[\s\p{Zs}\p{Pd}\u2212.\uFF0E()\uFF08\uFF09]/gu
/** Invisible marks, such as those around a number that was copied from WhatsApp Web. */
const marks = /\p{Cf}/gu
/** It shows the digits in another order than they have. */
const reversing = '\u202E'

/**
 * Converts a number as people write and copy it to digits with the country prefix. No country is guessed: numbering-plan
 * libraries refuse numbers that exist on WhatsApp.
 */
export function parsePhone(text: string): ParsedPhone {
  if (text.length > charsMax) return { fault: phoneExpectation }
  if (text.includes(reversing))
    return { fault: `${phoneExpectation}. Remove ${nameOf(reversing)}, which reverses its digits` }
  const plain = text
    .replace(marks, '')
    .replace(/\p{Nd}/gu, toAsciiDigit)
    .replace(/\uFF0B/g, '+')
  const advice = adviceFor(plain)
  if (advice) return { fault: `${phoneExpectation}. ${advice}` }
  if (/\(\s*0\s*\)/.test(plain))
    return { fault: `${phoneExpectation}. Leave out (0), which is not dialled after the country prefix` }
  const digits = plain
    .trim()
    .replace(/^tel:/i, '')
    .replace(separators, '')
    .replace(/^\+/, '')
    .replace(/^00/, '')
  const rest = digits.replace(/[^0-9]/g, '')
  if (rest.startsWith('0')) return { fault: `${phoneExpectation}. Put the country prefix in place of the 0` }
  if (!/^[1-9]\d{6,14}$/.test(rest)) return { fault: phoneExpectation }
  const [stranger] = digits.match(/[^0-9]/u) ?? []
  return stranger === undefined ? { digits } : { fault: `${phoneExpectation}. Remove ${nameOf(stranger)}` }
}

/** For what programs take for a number: the ids of chats in WhatsApp's protocol. */
function adviceFor(text: string): string | undefined {
  const [, server] = /@([a-z.]+)\s*$/i.exec(text) ?? []
  switch (server?.toLowerCase()) {
    case 'g.us':
      return 'This is a group: groups are not supported'
    case 'newsletter':
    case 'broadcast':
      return 'Channels, lists and statuses are not supported'
    case 'lid':
      return 'This is a LID: give its digits as lid'
    case 's.whatsapp.net':
    case 'c.us':
      return `Leave out @${server}`
    default:
      return undefined
  }
}

/** Every script has its ten digits in a row, and some rows follow each other. */
function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let first = code
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first -= 1
  return String((code - first) % 10)
}

/** `U+202E`, and the character itself if it can be seen. */
function nameOf(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character)
    ? `the character ${character} (${code})`
    : `the character ${code}`
}

/** `+49151****567` for logs: enough to find a device, not enough to call it. */
export function maskPhone(digits: string): string {
  return `${digits.slice(0, -7)}****${digits.slice(-3)}`
}

/**
 * Where one subscriber has two numbers: digits were added to the numbers of a country, and WhatsApp has accounts in either
 * form. `prefix`, what was added, and the subscriber numbers that had no such digits before, as regular expressions. Others
 * have one number: a landline of Brazil has no ninth digit, and the mobile number that looks like it is another person's.
 */
export const addedDigits = [
  { country: '55', prefix: '55[1-9][1-9]', added: '9', rest: '[6-9][0-9]{7}' },
  { country: '52', prefix: '52', added: '1', rest: '[2-9][0-9]{9}' },
  { country: '54', prefix: '54', added: '9', rest: '(?:11|[23][0-9])[0-9]{8}' },
  // Ivory Coast, where the digits before depend on the operator, and so on the second digit after them.
  { country: '225', prefix: '225', added: '01', rest: '[04-9][0-3][0-9]{6}' },
  { country: '225', prefix: '225', added: '05', rest: '[04-9][4-6][0-9]{6}' },
  { country: '225', prefix: '225', added: '07', rest: '[04-9][7-9][0-9]{6}' },
  { country: '229', prefix: '229', added: '01', rest: '[24-69][0-9]{7}' },
].map(({ country, prefix, added, rest }) => ({
  country,
  added,
  long: `^(${prefix})${added}(${rest})$`,
  short: `^(${prefix})(${rest})$`,
}))

/** Most numbers are of other countries, and this is asked of each message that waits. */
const mayHaveForms = new RegExp(`^(?:${addedDigits.map(({ country }) => country).join('|')})`)

const plans = addedDigits.map(({ long, short, ...rest }) => ({
  ...rest,
  long: new RegExp(long),
  short: new RegExp(short),
}))

/** The same for all numbers of a subscriber: the form without the added digits. What is no number stays as it is. */
export function subscriberOf(digits: string): string {
  if (!mayHaveForms.test(digits)) return digits
  const plan = plans.find(({ long }) => long.test(digits))
  return plan ? digits.replace(plan.long, '$1$2') : digits
}

/** Whether WhatsApp may know `dialled` under `linked`. */
export function isSameSubscriber(dialled: string, linked: string): boolean {
  return subscriberOf(dialled) === subscriberOf(linked)
}

/** The forms under which WhatsApp may know a number: itself, and the other one where the subscriber has two. */
export function phoneForms(digits: string): string[] {
  const short = subscriberOf(digits)
  const plan = plans.find((one) => one.short.test(short))
  const long = plan ? short.replace(plan.short, `$1${plan.added}$2`) : short
  return [...new Set([digits, short, long])]
}
