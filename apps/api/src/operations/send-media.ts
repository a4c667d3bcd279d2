import { findUpload } from '@wagate/db/queries/media/uploaded-media'
import { kindOf, type MediaType, mediaTypes } from '@wagate/shared/message-kinds'
import { urlOfUpload } from '@wagate/shared/uploaded-media'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { AppError } from '../errors/app-error.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import type { RequestErrorCode } from '../errors/request-errors.ts'
import { largeBodyBytesMax } from '../http/large-bodies.ts'
import { findTypeFault, tooLargeAs } from '../media/media-faults.ts'
import { type ParsedMedia, parseMediaUrl } from '../media/parse-media-url.ts'
import { send } from '../messages/send.ts'
import {
  exampleAddress,
  exampleSent,
  sendErrors,
  sendFields,
  sendParameters,
} from '../messages/send-contract.ts'
import { text } from '../parameters/parameter-types.ts'
import { uploadNotFound } from '../uploads/upload-errors.ts'

const type = z.enum(mediaTypes, { error: `must be one of ${mediaTypes.join(', ')}` })

export const sendMedia = defineOperation({
  name: 'send-media',
  summary: 'Send an image, a video, an audio file or a document from a connected sender',
  methods: ['GET', 'POST'],
  changes: true,
  // Enough for a data URL of the 16 MiB that an image may have, in base64.
  bodyBytesMax: largeBodyBytesMax,
  takesFileInForm: true,
  parameters: z.object({
    ...sendParameters,
    type: type.describe('Type of the file'),
    url: z
      .string({ error: 'must be a URL' })
      .min(1, 'must be a URL')
      .optional()
      .describe(
        'A public http(s) URL or a data: URL, in base64 or percent-encoded, with a `filename` if you like. Required without `media_id`',
      ),
    caption: text(1024).optional().describe('Text below the file. Not with `audio`, which has none'),
    filename: text(255)
      .optional()
      .describe(
        'File name that the recipient of a document sees. By default the name that the host or the data: URL gives. An extension is added where the name has none that fits the file',
      ),
    media_id: z
      .uuid({ error: 'must be a media_id of upload-media' })
      .toLowerCase()
      .optional()
      .describe('A file of `upload-media`, instead of `url`'),
  }),
  fields: z.object({ ...sendFields, type }),
  errors: [...sendErrors, 'invalid_media', 'media_url_forbidden', 'upload_not_found', 'payload_too_large'],
  example: {
    given: {
      ...exampleAddress,
      type: 'document',
      url: 'https://example.com/invoice.pdf',
      caption: 'Your invoice',
      filename: 'invoice.pdf',
    },
    answer: { ...exampleSent, type: 'document' },
  },
  async handle(input, call) {
    const { type, caption = null, filename } = input
    refuseCaption(input)
    if (filename !== undefined && !kindOf(type).hasFilename) call.warn(nameIsNotShown(type))
    const { url, filename: ownName, ...file } = await findMedia(input, call)
    const shownName = kindOf(type).hasFilename ? (filename ?? ownName) : null
    const content = { type, body: caption, url, filename: shownName }
    const sent = await send(call, input, content, file)
    return { ...sent, type }
  },
})

/** A caption that the phone does not show would be lost. A name that it does not show is only a name. */
function refuseCaption({ type, caption }: { type: MediaType; caption?: string | undefined }): void {
  if (caption === undefined || kindOf(type).hasCaption) return
  throw invalidParameter('caption', `is not possible with type ${type}: send the text with send-message`)
}

const nameIsNotShown = (type: MediaType) =>
  `filename has no effect with type ${type}: phones show the names of documents only.`

type MediaInput = {
  type: MediaType
  filename?: string | undefined
  url?: string | undefined
  media_id?: string | undefined
  send_at?: Date | undefined
}

async function findMedia(
  { type, url, filename, media_id: mediaId, send_at: sendAt }: MediaInput,
  call: Call,
) {
  if (mediaId === undefined) {
    if (url === undefined) throw requireEither('missing_parameter', 'is required, or the other')
    return {
      ...(await parseMediaUrl(url, { ...call.context.config.media, type, filename })),
      fault: undefined,
    }
  }
  if (url !== undefined) throw requireEither('invalid_parameter', 'cannot be given together with the other')
  return findUploadContent(call, { mediaId, type, sendAt })
}

function requireEither(code: RequestErrorCode, message: string): AppError {
  const details = ['url', 'media_id'].map((parameter) => ({ parameter, message }))
  return new AppError(code, 'Give either url or media_id.', { details })
}

type Use = { mediaId: string; type: MediaType; sendAt: Date | undefined }
type UploadContent = ParsedMedia & { fault: AppError | undefined }

/** The uploaded file of a new message. `fault` says why it may not be sent, unless the message replays an earlier one. */
async function findUploadContent(
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
