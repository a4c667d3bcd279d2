import type { UploadLimit } from '@wagate/db/queries/media/uploaded-media'
import { AppError } from '../errors/app-error.ts'

type Limits = Record<`${UploadLimit}Max`, number>

export function uploadLimitReached(limit: UploadLimit, { bytesMax, filesMax }: Limits): AppError {
  const sentence = {
    bytes: `With this file, the uploaded files of the account would have more than ${bytesMax} bytes.`,
    files: `The account has ${filesMax} uploaded files, which is its limit.`,
  }
  return new AppError('upload_limit_reached', sentence[limit])
}

export function uploadNotFound(): AppError {
  const message =
    'is not the id of an uploaded file of the account, or the file has expired, or will have by send_at'
  return new AppError('upload_not_found', `media_id ${message}.`, {
    details: [{ parameter: 'media_id', message }],
  })
}
