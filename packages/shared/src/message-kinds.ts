/** What the gateway has to know about a kind of message, wherever it handles one. */
type Kind = {
  /** A file that has to be uploaded before the message can leave. Its text is a caption. Undefined for what is only received. */
  isUploaded?: boolean
  /** Its author may change its text later. */
  isEditable: boolean
}

/** Every kind that is stored, and most of what is decided by the kind of a message. */
export const messageKinds = {
  text: { isUploaded: false, isEditable: true },
  image: { isUploaded: true, isEditable: true },
  video: { isUploaded: true, isEditable: true },
  audio: { isUploaded: true, isEditable: false },
  document: { isUploaded: true, isEditable: true },
  sticker: { isEditable: false },
  location: { isEditable: false },
  contacts: { isEditable: false },
  poll: { isEditable: false },
  other: { isEditable: false },
} as const satisfies Record<string, Kind>

export type MessageType = keyof typeof messageKinds
/** Of a message that is sent with a file. */
export type MediaType = {
  [Type in MessageType]: (typeof messageKinds)[Type] extends { isUploaded: true } ? Type : never
}[MessageType]

export const messageTypes = Object.keys(messageKinds) as MessageType[]
export const mediaTypes = messageTypes.filter(isMediaType)

export function isMediaType(type: MessageType): type is MediaType {
  const kind: Kind = messageKinds[type]
  return kind.isUploaded === true
}
