import { mediaTypes } from '@wagate/shared/statuses'
import { z } from 'zod'
import { largeBodyBytesMax } from '../http/large-bodies.ts'
import { parseMediaUrl } from '../media/parse-media-url.ts'
import {
  exampleAddress,
  exampleSent,
  send,
  sendErrors,
  sendFields,
  sendParameters,
} from '../messages/send.ts'
import { defineOperation } from '../operation.ts'
import { text } from '../parameters/parameter-types.ts'

const type = z.enum(mediaTypes, { error: `must be one of ${mediaTypes.join(', ')}` })

export const sendMedia = defineOperation({
  name: 'send-media',
  summary: 'Send an image, a video, an audio file or a document from a connected sender',
  methods: ['GET', 'POST'],
  changes: true,
  // A data URL of the 16 MiB that an image may have, in base64, and some room.
  bodyBytesMax: largeBodyBytesMax,
  parameters: z.object({
    ...sendParameters,
    type: type.describe('What the file is'),
    url: z
      .string({ error: 'must be a URL' })
      .min(1, 'must be a URL')
      .describe('A public http(s) URL or a data: URL'),
    caption: text(1024).optional().describe('A text under the file'),
    filename: text(255).optional().describe('The name that the recipient of a document sees'),
  }),
  fields: z.object({ ...sendFields, type }),
  errors: [...sendErrors, 'invalid_media', 'media_url_forbidden', 'payload_too_large'],
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
  async handle({ type, url, caption, filename, ...given }, call) {
    const { config } = call.context
    const media = await parseMediaUrl(url, type, {
      bytesMaxOf: {
        image: config.MEDIA_IMAGE_BYTES_MAX,
        audio: config.MEDIA_AUDIO_BYTES_MAX,
        video: config.MEDIA_VIDEO_BYTES_MAX,
        document: config.MEDIA_DOCUMENT_BYTES_MAX,
      },
      allowPrivateHosts: config.ALLOW_PRIVATE_MEDIA_HOSTS,
    })
    const sent = await send(call, 'send-media', given, {
      content: { type, body: caption ?? null, filename: filename ?? null, ...media },
      payload: { type, url, caption, filename },
    })
    return { ...sent, type }
  },
})
