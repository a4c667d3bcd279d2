import { isAcceptedMedia } from '@wagate/shared/media-rules'
import { fileTypeFromFile } from 'file-type'
import { inspectPicture } from './inspect-picture.ts'
import { inspectSound } from './inspect-sound.ts'
import type { InspectionRequest, MediaFacts } from './media-facts.ts'

/** Opens a file that may be malicious, so call it only in the process that has limits. `null` when it is damaged. */
export async function inspectFile({ file, type }: InspectionRequest): Promise<MediaFacts | null> {
  const found = await fileTypeFromFile(file)
  const facts = found ? { mime: found.mime, extension: found.ext } : {}
  if (type === 'document' || !isAcceptedMedia(type, facts.mime)) return facts
  const more = await (type === 'image' ? inspectPicture(file) : inspectSound(file))
  return more && { ...facts, ...more }
}
