/** What the gateway has to know about a kind of message, in all of its parts. */
type Kind = {
  /**
   * True for a file that has to be uploaded before the message can leave: its text, if the kind has one, is a caption. False for what a worker
   * composes without an upload. Undefined for what is only received.
   */
  isUploaded?: boolean
  /** The types of files that WhatsApp shows as this kind. Undefined for one that may be any file. */
  accepts?: RegExp
  /** The recipient sees a text below the file. */
  hasCaption?: boolean
  /** The recipient sees the name of the file. */
  hasFilename?: boolean
  /** While the recipient waits for it, the sender is shown as recording, not as typing. */
  isRecorded?: boolean
  /** Its author may change its text later. */
  isEditable?: boolean
  /** Its whole text may be a word by which a contact opts out or in. */
  mayAskConsent?: boolean
}

/** Every kind that is stored. What is decided by the kind of a message is a column here. */
const messageKinds = {
  text: { isUploaded: false, isEditable: true, mayAskConsent: true },
  image: { isUploaded: true, hasCaption: true, isEditable: true, accepts: /^image\/(jpeg|png|webp)$/ },
  video: { isUploaded: true, hasCaption: true, isEditable: true, accepts: /^video\/(mp4|3gpp)$/ },
  audio: {
    isUploaded: true,
    isRecorded: true,
    accepts: /^audio\/(mpeg|ogg|mp4|x-m4a|aac|amr)$|^audio\/ogg; codecs=opus$/,
  },
  document: { isUploaded: true, hasCaption: true, hasFilename: true, isEditable: true },
  sticker: {},
  location: {},
  contacts: {},
  poll: {},
  other: {},
} as const satisfies Record<string, Kind>

export type MessageType = keyof typeof messageKinds
type TypeThat<Uploaded extends boolean> = {
  [Type in MessageType]: (typeof messageKinds)[Type] extends { isUploaded: Uploaded } ? Type : never
}[MessageType]
/** Of a message that is sent with a file. */
export type MediaType = TypeThat<true>
/** Of a message that is sent without a file. */
export type ComposedType = TypeThat<false>

export const messageTypes = Object.keys(messageKinds) as MessageType[]
export const mediaTypes = messageTypes.filter(isMediaType)

export function kindOf(type: MessageType): Kind {
  return messageKinds[type]
}

export function isMediaType(type: MessageType): type is MediaType {
  return kindOf(type).isUploaded === true
}

export function isComposedType(type: MessageType): type is ComposedType {
  return kindOf(type).isUploaded === false
}
