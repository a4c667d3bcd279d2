import type { MessageContent } from '@wagate/shared/objects/message-content'
import { getContentType, type proto } from 'baileys'
import type { Cleaner } from './cleaner.ts'

const textCharsMax = 1024
export const optionsMax = 20
export const optionCharsMax = 200

/** What a message has besides its type and text. Null for one that has nothing else. */
export function readDetails(message: proto.IMessage, cleaner: Cleaner): MessageContent | null {
  const details = {
    ...readLocation(message, cleaner),
    ...readContacts(message, cleaner),
    ...readPoll(message, cleaner),
    ...readChoice(message, cleaner),
    ...(contextOf(message)?.isForwarded && { is_forwarded: true }),
  }
  return Object.keys(details).length > 0 ? details : null
}

function readLocation(
  { locationMessage, liveLocationMessage }: proto.IMessage,
  cleaner: Cleaner,
): Pick<MessageContent, 'location'> {
  const given = locationMessage ?? liveLocationMessage
  const latitude = given?.degreesLatitude ?? Number.NaN
  const longitude = given?.degreesLongitude ?? Number.NaN
  // Also false for a position that is no number.
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return {}
  return {
    location: {
      latitude,
      longitude,
      name: cleaner.optional(locationMessage?.name, textCharsMax),
      address: cleaner.optional(locationMessage?.address, textCharsMax),
      url: cleaner.optional(locationMessage?.url, textCharsMax),
      is_live: Boolean(liveLocationMessage ?? locationMessage?.isLive),
    },
  }
}

function readContacts(
  { contactMessage, contactsArrayMessage }: proto.IMessage,
  cleaner: Cleaner,
): Pick<MessageContent, 'contacts'> {
  const given = contactMessage ? [contactMessage] : contactsArrayMessage?.contacts
  return given ? { contacts: readCards(given, cleaner) } : {}
}

/** The versions differ in what a phone shows, not in what is read here. */
export function pollOf(message: proto.IMessage): proto.Message.IPollCreationMessage | null | undefined {
  const { pollCreationMessage, pollCreationMessageV2, pollCreationMessageV3, pollCreationMessageV5 } = message
  return pollCreationMessage ?? pollCreationMessageV2 ?? pollCreationMessageV3 ?? pollCreationMessageV5
}

function readPoll(message: proto.IMessage, cleaner: Cleaner): Pick<MessageContent, 'poll'> {
  const poll = pollOf(message)
  if (!poll) return {}
  return {
    poll: {
      name: cleaner.optional(poll.name, textCharsMax),
      options: cleaner
        .list(poll.options, optionsMax)
        .map(({ optionName }) => cleaner.text(optionName ?? '', optionCharsMax)),
      selectable: Math.min(poll.selectableOptionsCount ?? 0, optionsMax),
    },
  }
}

function readChoice(message: proto.IMessage, cleaner: Cleaner): Pick<MessageContent, 'choice'> {
  const given = choiceOf(message)
  if (!given) return {}
  return {
    choice: {
      id: cleaner.optional(given.id, textCharsMax),
      title: cleaner.optional(given.title, textCharsMax),
    },
  }
}

type Choice = { id?: string | null | undefined; title?: string | null | undefined }

/** Undefined for a message that answers no buttons and no list. */
export function choiceOf({
  buttonsResponseMessage: button,
  listResponseMessage: list,
  templateButtonReplyMessage: template,
  interactiveResponseMessage: interactive,
}: proto.IMessage): Choice | undefined {
  if (button) return { id: button.selectedButtonId, title: button.selectedDisplayText }
  if (list) return { id: list.singleSelectReply?.selectedRowId, title: list.title }
  if (template) return { id: template.selectedId, title: template.selectedDisplayText }
  if (!interactive) return undefined
  return {
    id: flowIdOf(interactive.nativeFlowResponseMessage?.paramsJson),
    title: interactive.body?.text,
  }
}

const paramsCharsMax = 65_536

function flowIdOf(paramsJson: string | null | undefined): string | undefined {
  if (!paramsJson || paramsJson.length > paramsCharsMax) return undefined
  try {
    const params: unknown = JSON.parse(paramsJson)
    const id = typeof params === 'object' && params !== null && 'id' in params ? params.id : undefined
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}

export function contextOf(message: proto.IMessage): proto.IContextInfo | undefined {
  const type = getContentType(message)
  const content: unknown = type && message[type]
  if (typeof content !== 'object' || content === null || !('contextInfo' in content)) return undefined
  // Each kind of message that has this field has it as this type.
  return (content.contextInfo as proto.IContextInfo | null) ?? undefined
}

type Cards = NonNullable<MessageContent['contacts']>

const cardsMax = 50
const numbersMax = 10
const nameCharsMax = 190
const numberCharsMax = 40
/** Of all cards of a message together. Photos are in the cards, in base64. */
const vcardCharsMax = 8192

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
