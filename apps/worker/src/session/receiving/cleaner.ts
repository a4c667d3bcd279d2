/** Brings what a contact sent into a form that Postgres accepts, within limits, and remembers whether anything was lost. */
export type Cleaner = {
  text(given: string, charsMax: number): string
  /** Null stays null, and an empty text becomes null. */
  optional(given: string | null | undefined, charsMax: number): string | null
  list<Item>(given: readonly Item[] | null | undefined, itemsMax: number): readonly Item[]
  isCleaned(): boolean
}

export function makeCleaner(): Cleaner {
  let isCleaned = false

  function text(given: string, charsMax: number): string {
    const cleaned = cleanText(given, charsMax)
    if (cleaned !== given) isCleaned = true
    return cleaned
  }

  return {
    text,
    optional: (given, charsMax) => (given ? text(given, charsMax) : null),
    list(given, itemsMax) {
      const all = given ?? []
      if (all.length > itemsMax) isCleaned = true
      return all.slice(0, itemsMax)
    },
    isCleaned: () => isCleaned,
  }
}

/** Postgres refuses U+0000, and UTF-8 cannot encode half a surrogate pair. */
export function cleanText(text: string, charsMax: number): string {
  return text.replaceAll('\0', '').slice(0, charsMax).toWellFormed()
}
