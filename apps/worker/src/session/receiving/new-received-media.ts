import type { NewReceivedMedia } from '@wagate/db/queries/media/received-media-rows'
import type { Config } from '../../config/config.ts'
import type { Vault } from '../credentials/vault.ts'
import type { MediaDescriptor } from './media-descriptor.ts'
import { sealMediaSource } from './media-source.ts'

type Limits = Pick<Config['receivedMedia'], 'isEnabled'> & Pick<Config['media'], 'bytesMax'>

/** How the file of a message begins: to be downloaded, or never. */
export function newReceivedMedia(
  { kind, source, ...facts }: MediaDescriptor,
  messageId: string,
  vault: Vault,
  { isEnabled, bytesMax }: Limits,
): NewReceivedMedia {
  if (!isEnabled) return { ...facts, state: 'unavailable', reason: 'disabled' }
  if (!source) return { ...facts, state: 'unavailable', reason: 'download_failed' }
  if ((facts.size ?? 0) > bytesMax[kind]) return { ...facts, state: 'unavailable', reason: 'too_large' }
  return { ...facts, state: 'pending', sealed: sealMediaSource(vault, messageId, source) }
}
