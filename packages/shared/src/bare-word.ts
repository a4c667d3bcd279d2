const charsMax = 200

/**
 * How a word is compared that a person writes alone: `Stop.`, `*STOP*` and ` stop 🙏` are `stop`. Punctuation, symbols and white
 * space around it do not count, unless there is nothing else. Undefined for a text that is too long for one.
 */
export function bareWord(text: string): string | undefined {
  if (text.length > charsMax) return undefined
  const word = text.normalize('NFC').trim().toLowerCase()
  const bare = word.replaceAll(/^[\p{P}\p{S}\p{Z}\p{M}\p{C}]+|[\p{P}\p{S}\p{Z}\p{C}\p{VS}]+$/gu, '')
  return bare === '' ? word : bare
}
