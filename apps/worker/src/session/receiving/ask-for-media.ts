import {
  type BaileysEventMap,
  decryptMediaRetryData,
  encryptMediaRetryRequest,
  proto,
  type WASocket,
} from 'baileys'
import type { MediaSource } from './media-source.ts'

type Update = BaileysEventMap['messages.media-update'][number]

const answerMsMax = 30_000
const { SUCCESS, NOT_FOUND } = proto.MediaRetryNotification.ResultType
/** As Baileys translates `NOT_FOUND`. */
const notFoundStatus = 404

/**
 * Asks the phone of the account to upload the file of a message again. Returns its new path, undefined when the phone does
 * not have the file either. Throws when it does not answer. Baileys' own `updateMediaMessage` waits without a limit.
 */
export async function askForMedia(sock: WASocket, source: MediaSource): Promise<string | undefined> {
  const { me } = sock.authState.creds
  if (!me) throw new Error('The device is not linked')
  const mediaKey = Buffer.from(source.mediaKey, 'base64')
  const key = { id: source.waId, remoteJid: source.chatJid, fromMe: source.isOwn ?? false }
  const request = encryptMediaRetryRequest(key, mediaKey, me.id)
  const [{ error, media }] = await Promise.all([nextUpdate(sock, source.waId), sock.sendNode(request)])
  if (error?.output.statusCode === notFoundStatus) return undefined
  // Only the phone knows the key, so nobody else can name another file.
  const found = media && decryptMediaRetryData(media, mediaKey, source.waId)
  if (found?.result === NOT_FOUND) return undefined
  if (found?.result !== SUCCESS || !found.directPath) {
    throw new Error('The phone could not upload a file again')
  }
  return found.directPath
}

function nextUpdate({ ev }: WASocket, waId: string): Promise<Update> {
  return new Promise((resolve, reject) => {
    function stop(): void {
      clearTimeout(timer)
      ev.off('messages.media-update', onUpdates)
      ev.off('connection.update', onConnection)
    }
    function onUpdates(updates: Update[]): void {
      const update = updates.find(({ key }) => key.id === waId)
      if (!update) return
      stop()
      resolve(update)
    }
    function onConnection({ connection }: BaileysEventMap['connection.update']): void {
      if (connection === 'close') fail('The connection ended before the phone had answered')
    }
    function fail(why: string): void {
      stop()
      reject(new Error(why))
    }
    const timer = setTimeout(() => fail('The phone did not answer in time'), answerMsMax)
    ev.on('messages.media-update', onUpdates)
    ev.on('connection.update', onConnection)
  })
}
