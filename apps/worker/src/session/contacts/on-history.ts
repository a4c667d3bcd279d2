import { type BaileysEventMap, proto, type WASocket } from 'baileys'
import { readBytesField } from '../credentials/protobuf-field.ts'

type Event = BaileysEventMap['messaging-history.set']
/** A history that Baileys has read. `salt` is that of the account. */
export type History = { chats: Event['chats']; salt: Uint8Array | undefined }

/** The field of HistorySync that the protocol of Baileys does not know. */
const saltField = 19

/** The salts of decoded histories, by the only object that Baileys passes on unchanged with its event. */
const salts = new WeakMap<object, Uint8Array>()

const decode = proto.HistorySync.decode
proto.HistorySync.decode = (message, length) => {
  const history = decode(message, length)
  const salt = message instanceof Uint8Array ? readBytesField(message, saltField) : undefined
  if (salt && salt.length > 0) salts.set(history.pastParticipants, Buffer.from(salt))
  return history
}

/** Calls back before the event buffer of Baileys, which drops what it does not know and merges histories. */
export function onHistory({ ev }: WASocket, handle: (history: History) => void): void {
  const emit = ev.emit.bind(ev)
  ev.emit = (event, data) => {
    if (event === 'messaging-history.set') {
      const { chats, pastParticipants } = data as Event
      handle({ chats, salt: pastParticipants ? salts.get(pastParticipants) : undefined })
    }
    return emit(event, data)
  }
}
