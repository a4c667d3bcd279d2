import { randomUUID } from 'node:crypto'
import {
  findFullLimit,
  giveUpUpload,
  type NewUpload,
  recordUpload,
  setUploadStored,
} from '@wagate/db/queries/media/uploaded-media'
import type { MediaStore } from '@wagate/media-store/media-store'
import { within } from '@wagate/runtime/within'
import { weighType } from '@wagate/shared/file-evidence'
import { cleanFilename } from '@wagate/shared/file-names'
import { mediaTypes } from '@wagate/shared/message-kinds'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { accountDisabled } from '../credentials/api-key-cache.ts'
import { AppError } from '../errors/app-error.ts'
import type { ReceivedFile } from '../http/receive-file.ts'
import { findTypeFault } from '../media/media-faults.ts'
import { stageUpload } from '../uploads/stage-upload.ts'
import { uploadLimitReached } from '../uploads/upload-errors.ts'

/** After it, the outcome is unknown. */
const putMsMax = 20_000

export const uploadMedia = defineOperation({
  name: 'upload-media',
  summary: 'Upload a file once, to send it any number of times with its media_id until it expires',
  methods: ['POST'],
  changes: true,
  takesFile: true,
  parameters: z.object({
    type: z
      .enum(mediaTypes, { error: `must be one of ${mediaTypes.join(', ')}` })
      .optional()
      .describe(
        'Type that it will be sent as. A file that is too large or of another type is then refused as it arrives',
      ),
  }),
  fields: z.object({
    media_id: z.uuid().describe('For `send-media`'),
    mime: z
      .string()
      .describe('As the bytes of the file show, and its name and content type where they fit the bytes'),
    size: z.int().describe('In bytes'),
    sha256: z.string().describe('Of the file, in hexadecimal'),
    filename: z.string().nullable().describe('As the form names it, without folders'),
    expires_at: z.iso.datetime().describe('No message can have the file from then on'),
  }),
  errors: ['missing_parameter', 'invalid_media', 'upload_limit_reached'],
  example: {
    given: { type: 'document' },
    answer: {
      media_id: '6f1c1c2e-54f4-4f0b-9a55-3d4b8c0f8a51',
      mime: 'application/pdf',
      size: 48_213,
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      filename: 'invoice.pdf',
      expires_at: '2026-12-05T12:00:00.000Z',
    },
  },
  async handle({ type }, call) {
    const { db, config } = call.context
    const { bytesMax, largestBytesMax, uploads } = config.media
    const full = await findFullLimit(db, call.principal.accountId, 1, uploads)
    if (full) throw uploadLimitReached(full, uploads)
    const file = await stageUpload(call, {
      bytesMax: type ? bytesMax[type] : largestBytesMax,
      findFault: (mime) => (type ? findTypeFault(type, mime) : undefined),
    })
    const { upload, expiresAt } = await record(call, file).catch(async (error) => {
      await file.remove()
      throw error
    })
    await store(call, upload, file)
    const { mediaId, mime, size, sha256, filename } = upload
    return { media_id: mediaId, mime, size, sha256, filename, expires_at: expiresAt }
  },
})

/** The row comes first, so that no file is in the store that housekeeping does not know. */
async function record({ context, principal, deadline }: Call, file: ReceivedFile) {
  const { uploads } = context.config.media
  const upload: NewUpload = {
    mediaId: randomUUID(),
    accountId: principal.accountId,
    mime: weighType({ signs: file.signs, names: [file.filename], claims: [file.claim] }).mime,
    filename: cleanFilename(file.filename) ?? null,
    size: file.size,
    sha256: file.sha256,
  }
  deadline.signal.throwIfAborted()
  const recorded = await recordUpload(context.db, upload, uploads)
  if (recorded === 'disabled') throw accountDisabled()
  if ('full' in recorded) throw uploadLimitReached(recorded.full, uploads)
  return { upload, expiresAt: recorded.expiresAt }
}

async function store({ context, deadline }: Call, upload: NewUpload, file: ReceivedFile): Promise<void> {
  const { db, media } = context
  try {
    const isPut = await deadline.outside(() => within(putMsMax, put(media.store, upload, file)))
    if (!isPut) throw new Error(`The store has not taken an upload within ${putMsMax} ms`)
    deadline.signal.throwIfAborted()
    if (!(await setUploadStored(db, upload)))
      throw new Error('An upload was given up while it was being stored')
    deadline.signal.throwIfAborted()
  } catch (error) {
    // The file may still appear in the store, so housekeeping removes it later, with its row.
    await giveUpUpload(db, upload).catch(() => undefined)
    throw error instanceof AppError ? error : notStored(error)
  }
}

/** Removes the staged file, but not before the store has finished reading it. */
async function put(mediaStore: MediaStore, upload: NewUpload, file: ReceivedFile): Promise<true> {
  const { accountId, sha256, mediaId } = upload
  try {
    await mediaStore.put({ accountId, sha256, uploadId: mediaId }, file)
  } finally {
    await file.remove()
  }
  return true
}

function notStored(cause: unknown): AppError {
  return new AppError('unavailable', 'The file could not be stored. Try again.', {
    retryAfterSeconds: 1,
    cause,
  })
}
