/** WhatsApp's own limit of a text. */
const bodyCharsMax = 65_536

/** Of everything that a message has besides its text, together. */
const detailsCharsMax = 32_768

/** What an entry of a list counts besides its texts: lists may be in lists. */
const itemChars = 64

/** Brings what a contact sent into a form that Postgres accepts, within limits, and remembers whether anything was lost. */
export type Cleaner = {
  /** The text of a message. Empty stays empty. */
  body(given: string | null | undefined): string | null
  text(given: string, charsMax: number): string
  /** Null stays null, and an empty text becomes null. */
  optional(given: string | null | undefined, charsMax: number): string | null
  list<Item>(given: readonly Item[] | null | undefined, itemsMax: number): readonly Item[]
  isCleaned(): boolean
}

export function makeCleaner(): Cleaner {
  let isCleaned = false
  let charsLeft = detailsCharsMax

  function clean(given: string, charsMax: number): string {
    const cleaned = cleanText(given, charsMax)
    if (cleaned !== given) isCleaned = true
    return cleaned
  }

  function text(given: string, charsMax: number): string {
    const cleaned = clean(given, Math.min(charsMax, charsLeft))
    charsLeft -= cleaned.length
    return cleaned
  }

  return {
    body: (given) => (given === null || given === undefined ? null : clean(given, bodyCharsMax)),
    text,
    optional: (given, charsMax) => (given ? text(given, charsMax) || null : null),
    list(given, itemsMax) {
      const all = given ?? []
      const kept = all.slice(0, Math.min(itemsMax, Math.floor(charsLeft / itemChars)))
      if (kept.length < all.length) isCleaned = true
      charsLeft -= kept.length * itemChars
      return kept
    },
    isCleaned: () => isCleaned,
  }
}

/** Postgres refuses U+0000, and UTF-8 cannot encode half a surrogate pair. */
export function cleanText(text: string, charsMax: number): string {
  return text.replaceAll('\0', '').slice(0, charsMax).toWellFormed()
}
