import { findUpload } from '@wagate/db/queries/media/uploaded-media'
import type { MediaType } from '@wagate/shared/message-kinds'
import { urlOfUpload } from '@wagate/shared/uploaded-media'
import type { Call } from '../calls/call.ts'
import type { AppError } from '../errors/app-error.ts'
import { findTypeFault, tooLargeAs } from '../media/media-faults.ts'
import type { ParsedMedia } from '../media/parse-media-url.ts'
import { uploadNotFound } from './upload-errors.ts'

type Use = { mediaId: string; type: MediaType; sendAt: Date | undefined }
type UploadContent = ParsedMedia & { filename: string | null; fault: AppError | undefined }

/** The uploaded file of a new message. `fault` says why it may not be sent, unless the message replays an earlier one. */
export async function findUploadContent(
  { context, principal }: Call,
  { mediaId, type, sendAt }: Use,
): Promise<UploadContent> {
  const content = { url: urlOfUpload(mediaId), file: null }
  const id = { accountId: principal.accountId, mediaId }
  const upload = await findUpload(context.db, id, { sendAt: sendAt?.toISOString() ?? null })
  if (!upload) return { ...content, filename: null, fault: uploadNotFound() }
  const bytesMax = context.config.media.bytesMax[type]
  return { ...content, filename: upload.filename, fault: findFault(type, upload, bytesMax) }
}

function findFault(
  type: MediaType,
  { mime, size }: { mime: string; size: number },
  bytesMax: number,
): AppError | undefined {
  if (size > bytesMax) return tooLargeAs(type, bytesMax)
  return findTypeFault(type, mime)
}
