import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DueMedia } from '@wagate/db/queries/media/received-media'
import { countMediaBytes, setMediaStored } from '@wagate/db/queries/media/received-media'
import { weighType } from '@wagate/shared/file-evidence'
import type { FileSigns } from '@wagate/shared/file-signs'
import type { DeviceContext } from '../device/device-context.ts'
import { networkOf } from '../device/device-network.ts'
import { InspectionTimeout } from '../media/inspection/inspector.ts'
import { MediaError } from '../media/media-error.ts'
import { makeMediaRoom } from '../media/media-room.ts'
import type { Lease } from '../ownership/lease.ts'
import type { WASocket } from '../session/connection/socket.ts'
import { makeVault } from '../session/credentials/vault.ts'
import { downloadedBy, makeWhatsAppFetch } from '../session/network/whatsapp-fetch.ts'
import { askForMedia } from '../session/receiving/ask-for-media.ts'
import { type MediaSource, openMediaSource } from '../session/receiving/media-source.ts'
import { downloadMedia } from './download-media.ts'
import { MediaGone, MediaLost } from './media-failure.ts'

type Owner = {
  lease: Lease
  /** Undefined while the sender has no connection. */
  findSock(): WASocket | undefined
}

const downloadMsMax = 300_000
/** The last block of the cipher, and the HMAC. */
const overheadBytes = 26

/**
 * Downloads a file into the store and records it. Throws MediaLost when it can never be had, and other errors when another
 * attempt may succeed.
 */
export async function fetchReceived(context: DeviceContext, media: DueMedia, owner: Owner): Promise<void> {
  const { config, db } = context
  const { shares, store } = context.media
  const { accountId, messageId, size } = media
  const { accountBytesMax } = config.receivedMedia
  if ((await countMediaBytes(db, accountId)) + size > accountBytesMax) throw new MediaLost('quota')
  const source = openMediaSource(makeVault(config.masterKeys, media.deviceId), messageId, media.sealed)
  const path = join(tmpdir(), `received-${randomUUID()}`)
  const room = makeMediaRoom(shares.bytes, String(accountId))
  await room.wait(size)
  try {
    await downloadOrAsk(context, { ...media, source }, path, owner)
    const mime = await findType(context.media, media, path)
    await store.put(media, { path, size })
    const result = await setMediaStored(db, owner.lease, { ...media, mime }, accountBytesMax, {
      has: () => store.has(media),
      remove: () => store.remove(media),
    })
    if (result === 'quota') throw new MediaLost('quota')
    if (result === 'gone') throw new Error('A received file was removed while it was being stored')
  } finally {
    // The reservation ends when the file is gone.
    await rm(path, { force: true }).finally(room.release)
  }
}

type Opened = DueMedia & { source: MediaSource }

/** The phone is asked for a file that WhatsApp does not have, and for one that is not that of the message. */
async function downloadOrAsk(
  context: DeviceContext,
  media: Opened,
  path: string,
  { findSock }: Owner,
): Promise<void> {
  const fetchMedia = await makeFetch(context, media)
  try {
    await downloadMedia(fetchMedia, media, path)
  } catch (error) {
    const isOther = error instanceof MediaLost && error.reason === 'hash_mismatch'
    if (!isOther && !(error instanceof MediaGone)) throw error
    const sock = findSock()
    // The phone can still be asked at another attempt.
    if (!sock) throw new MediaGone()
    const again = await askForMedia(sock, media.source)
    if (again === undefined) throw isOther ? error : new MediaLost('expired')
    await downloadMedia(fetchMedia, { ...media, source: { ...media.source, path: again } }, path)
  }
}

/** As the sender reaches WhatsApp: through its proxy, if it has one. */
async function makeFetch(context: DeviceContext, { deviceId, size }: DueMedia) {
  const state = await context.statements.deviceStates.add(deviceId)
  if (!state) throw new MediaLost('download_failed')
  const { files } = networkOf(context, state)
  const fetchMedia = makeWhatsAppFetch({ bytesMax: size + overheadBytes, deadlineMs: downloadMsMax })
  return (url: URL) =>
    fetchMedia(url, { ...downloadedBy(files), headers: { Origin: 'https://web.whatsapp.com' } })
}

/** A file that cannot be inspected shows nothing: what its sender says of it is all that is known. */
async function findType(
  { inspector }: DeviceContext['media'],
  { accountId, declaredMime, filename }: DueMedia,
  file: string,
): Promise<string> {
  const signs = await inspector
    .inspect(String(accountId), { file, type: 'document' })
    .catch((error: unknown): FileSigns => {
      if (error instanceof MediaError || error instanceof InspectionTimeout) return {}
      throw error
    })
  return weighType({ signs, names: [filename], claims: [declaredMime] }).mime
}
