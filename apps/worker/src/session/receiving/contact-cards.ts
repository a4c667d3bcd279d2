import type { MessageContent } from '@wagate/shared/objects/message-content'
import type { proto } from 'baileys'
import type { Cleaner } from './cleaner.ts'

type Cards = NonNullable<MessageContent['contacts']>

const cardsMax = 50
const numbersMax = 10
const nameCharsMax = 190
const numberCharsMax = 40
/** Of all cards of a message together. Photos are in the cards, in base64. */
const vcardCharsMax = 8192

export function readCards(given: proto.Message.IContactMessage[], cleaner: Cleaner): Cards {
  let charsLeft = vcardCharsMax
  return cleaner.list(given, cardsMax).map(({ displayName, vcard }) => {
    const keeps = vcard && vcard.length <= charsLeft
    if (keeps) charsLeft -= vcard.length
    return {
      name: cleaner.optional(displayName, nameCharsMax),
      numbers: numbersOf(vcard ?? '', cleaner),
      vcard: keeps ? cleaner.optional(vcard, vcardCharsMax) : null,
    }
  })
}

/** The values of the TEL lines. Nothing else is parsed: a card may say anything. */
function numbersOf(vcard: string, cleaner: Cleaner): string[] {
  const values = vcard
    .slice(0, vcardCharsMax)
    .split(/\r?\n/, 500)
    .flatMap((line) => /^(?:item\d{1,3}\.)?TEL(?:;[^:]*)?:(.+)$/i.exec(line)?.[1] ?? [])
  return cleaner.list(values, numbersMax).map((value) => cleaner.text(value.trim(), numberCharsMax))
}
