/** Also of generous people, who write spaces and brackets. */
const charsMax = 200

/**
 * Converts a number as people write it to digits with the country prefix. Undefined if it is not a phone number.
 * No country is guessed: numbering-plan libraries refuse numbers that exist on WhatsApp.
 */
export function parsePhone(text: string): string | undefined {
  if (text.length > charsMax) return undefined
  const digits = text.replace(/[+\s\-().]/g, '').replace(/^00/, '')
  return /^[1-9]\d{6,14}$/.test(digits) ? digits : undefined
}

/** `+49151****567` for logs: enough to find a device, not enough to call it. */
export function maskPhone(digits: string): string {
  return `${digits.slice(0, -7)}****${digits.slice(-3)}`
}

/**
 * True when WhatsApp may know `dialled` under `linked`: some countries added a digit to mobile numbers
 * (Brazil 55 DDD [9], Mexico 52 [1], Argentina 54 [9]) and accounts exist in either form.
 */
export function isSameSubscriber(dialled: string, linked: string): boolean {
  return withoutMobileDigit(dialled) === withoutMobileDigit(linked)
}

/** The forms under which WhatsApp may know a number: itself, and the other one where `isSameSubscriber` has two. */
export function phoneForms(digits: string): string[] {
  const short = withoutMobileDigit(digits)
  const long = short
    .replace(/^(55\d{2})(?=\d{8}$)/, (start) => `${start}9`)
    .replace(/^52(?=\d{10}$)/, '521')
    .replace(/^54(?=\d{10}$)/, '549')
  return [...new Set([digits, short, long])]
}

function withoutMobileDigit(digits: string): string {
  return digits
    .replace(/^(55\d{2})9(\d{8})$/, '$1$2')
    .replace(/^521(\d{10})$/, '52$1')
    .replace(/^549(\d{10})$/, '54$1')
}
