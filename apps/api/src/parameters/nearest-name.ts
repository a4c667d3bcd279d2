import { closestMatch } from 'leven'

/** Longer texts are no misspelled names, and take long to compare. */
const charsMax = 40
/** More than there are operations or types of events. */
const knownMax = 200

/** The known name that a person may have meant, such as `send_at` for `sendAt` or `message.received` for `message.recieved`. */
export function findNearest(given: string, known: readonly string[]): string | undefined {
  if (given.length > charsMax || known.length > knownMax) return undefined
  const wanted = bare(given)
  if (wanted.length < 3) return known.find((name) => bare(name) === wanted)
  const bareNames = known.map(bare)
  // The transposition of two letters is a distance of 2.
  const found = closestMatch(wanted, bareNames, { maxDistance: wanted.length < 5 ? 1 : 2 })
  return found === undefined ? undefined : known[bareNames.indexOf(found)]
}

/** Without what differs between conventions. */
export function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_\-.[\]]/g, '')
}

/** `: did you mean a?` */
export function orNearest(given: string, known: readonly string[], write = (name: string) => name): string {
  const nearest = findNearest(given, known)
  return nearest === undefined ? '' : `: did you mean ${write(nearest)}?`
}

/** What a caller wrote, short enough and plain enough for a sentence. */
export function shown(given: string): string {
  const plain = given.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
  return plain.length > charsMax ? `${plain.slice(0, charsMax).toWellFormed()}…` : plain
}
