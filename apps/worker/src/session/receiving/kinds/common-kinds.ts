import type { MessageContent } from '@wagate/shared/objects/message-content'
import type { proto } from 'baileys'
import type { Cleaner } from '../cleaner.ts'
import { parseObject, textIn } from './business-buttons.ts'
import { type ReadKind, textCharsMax } from './read-kind.ts'

export const optionsMax = 20
export const optionCharsMax = 200

/** A text, with what its phone shows of a link in it. */
export function readLinkedText(
  { text, matchedText, title, description }: proto.Message.IExtendedTextMessage,
  cleaner: Cleaner,
): ReadKind {
  if (!title && !description) return { type: 'text', text }
  const link_preview = {
    url: cleaner.optional(matchedText, textCharsMax),
    title: cleaner.optional(title, textCharsMax),
    description: cleaner.optional(description, textCharsMax),
  }
  return { type: 'text', text, content: { link_preview } }
}

export function readLocation(
  given: proto.Message.ILocationMessage & proto.Message.ILiveLocationMessage,
  cleaner: Cleaner,
  isLive = false,
): Pick<MessageContent, 'location'> {
  const latitude = given.degreesLatitude ?? Number.NaN
  const longitude = given.degreesLongitude ?? Number.NaN
  // Also false for a position that is no number.
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return {}
  return {
    location: {
      latitude,
      longitude,
      name: cleaner.optional(given.name, textCharsMax),
      address: cleaner.optional(given.address, textCharsMax),
      url: cleaner.optional(given.url, textCharsMax),
      is_live: isLive || given.isLive === true,
    },
  }
}

export function readPoll(poll: proto.Message.IPollCreationMessage, cleaner: Cleaner): ReadKind {
  return {
    type: 'poll',
    text: poll.name,
    content: {
      poll: {
        name: cleaner.optional(poll.name, textCharsMax),
        options: cleaner
          .list(poll.options, optionsMax)
          .map(({ optionName }) => cleaner.text(optionName ?? '', optionCharsMax)),
        selectable: Math.min(poll.selectableOptionsCount ?? 0, optionsMax),
      },
    },
  }
}

/** The versions differ in what a phone shows, not in what is read here. `message` is unwrapped. */
export function pollOf(message: proto.IMessage): proto.Message.IPollCreationMessage | null | undefined {
  const { pollCreationMessage, pollCreationMessageV2, pollCreationMessageV3, pollCreationMessageV5 } = message
  return pollCreationMessage ?? pollCreationMessageV2 ?? pollCreationMessageV3 ?? pollCreationMessageV5
}

export function readPollResult(
  { name, pollVotes }: proto.Message.IPollResultSnapshotMessage,
  cleaner: Cleaner,
): ReadKind {
  const options = cleaner.list(pollVotes, optionsMax).map(({ optionName, optionVoteCount }) => ({
    title: cleaner.optional(optionName, optionCharsMax),
    votes: Number(optionVoteCount ?? 0),
  }))
  const poll_result = { name: cleaner.optional(name, textCharsMax), options }
  return { type: 'other', text: name, content: { kind: 'poll_result', poll_result } }
}

type Text = string | null | undefined

/** What a contact chose of buttons or of a list. */
export function readChoice(given: { id: Text; title: Text }, cleaner: Cleaner): ReadKind {
  const choice = {
    id: cleaner.optional(given.id, textCharsMax),
    title: cleaner.optional(given.title, textCharsMax),
  }
  return { type: 'text', text: given.title, content: { choice } }
}

const responseCharsMax = 16_384

export function readInteractiveResponse(
  { body, nativeFlowResponseMessage: flow }: proto.Message.IInteractiveResponseMessage,
  cleaner: Cleaner,
): ReadKind {
  const json = flow?.paramsJson
  const params = parseObject(json)
  const choice = readChoice(
    { id: textIn(params, 'id'), title: body?.text ?? textIn(params, 'title') },
    cleaner,
  )
  if (!flow) return choice
  const form = {
    name: cleaner.optional(flow.name, textCharsMax),
    // A part of it would be no JSON.
    response_json: json && json.length <= responseCharsMax ? cleaner.optional(json, responseCharsMax) : null,
  }
  return { ...choice, content: { ...choice.content, form } }
}

type Cards = NonNullable<MessageContent['contacts']>

const cardsMax = 50
const numbersMax = 10
const nameCharsMax = 190
const numberCharsMax = 40
/** Of all cards of a message together. Photos are in the cards, in base64. */
const vcardCharsMax = 8192

export function readContacts(
  name: Text,
  given: proto.Message.IContactMessage[] | null | undefined,
  cleaner: Cleaner,
): ReadKind {
  return { type: 'contacts', text: name, content: { contacts: readCards(given ?? [], cleaner) } }
}

function readCards(given: proto.Message.IContactMessage[], cleaner: Cleaner): Cards {
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
