import { findFile } from '../handset/find-file.ts'
import { decryptMedia } from '../handset/open-media.ts'
import type { KnownMedia } from '../network/chat.ts'
import { type Network, phoneOf } from '../network/network.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { checkNumber } from './check-number.ts'

type MediaRequest = { wa_message_id: string; from?: string | undefined }

/** A file as the person sees it. `mime` is what its sender claims. */
export type ShownFile = { body: Buffer; mime: string | null; filename: string | null }

export type MediaActions = {
  /** The decrypted file of a message: one that `from` sent, or without it one that the phone itself has sent. */
  media: (number: string, request: MediaRequest) => Promise<ShownFile>
}

export function mediaActions(network: Network): MediaActions {
  return {
    async media(number, { wa_message_id: id, from }) {
      const { chat } = phoneOf(network, checkNumber(number))
      const received = [...chat.received.values()].find(
        ({ message }) => message.wa_message_id === id && message.from === from,
      )
      const entry =
        from === undefined ? chat.sent.get(id) : received && { ...received.message, media: received.media }
      if (!entry?.media) throw new SimulatorError('The phone has no message with this id and a file.', 404)
      const body = await open(network, entry.type, entry.media)
      if (!body) throw new SimulatorError('The file has expired, or cannot be decrypted.', 404)
      return { body, mime: entry.mime, filename: entry.media.filename ?? null }
    },
  }
}

async function open(network: Network, type: string, { directPath, mediaKey }: KnownMedia) {
  const file = findFile(network, directPath)
  return typeof file === 'number' ? undefined : decryptMedia(file, { type, mediaKey })
}
