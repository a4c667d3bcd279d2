import { mediaTypes } from '@wagate/shared/statuses'
import { z } from 'zod'
import { largeBodyBytesMax } from '../http/large-bodies.ts'
import { parseMediaUrl } from '../media/parse-media-url.ts'
import { send } from '../messages/send.ts'
import {
  exampleAddress,
  exampleSent,
  sendErrors,
  sendFields,
  sendParameters,
} from '../messages/send-contract.ts'
import { defineOperation } from '../operation.ts'
import { text } from '../parameters/parameter-types.ts'

const type = z.enum(mediaTypes, { error: `must be one of ${mediaTypes.join(', ')}` })

export const sendMedia = defineOperation({
  name: 'send-media',
  summary: 'Send an image, a video, an audio file or a document from a connected sender',
  methods: ['GET', 'POST'],
  changes: true,
  // Enough for a data URL of the 16 MiB that an image may have, in base64.
  bodyBytesMax: largeBodyBytesMax,
  parameters: z.object({
    ...sendParameters,
    type: type.describe('Type of the file'),
    url: z
      .string({ error: 'must be a URL' })
      .min(1, 'must be a URL')
      .describe('A public http(s) URL or a data: URL'),
    caption: text(1024).optional().describe('Text below the file'),
    filename: text(255).optional().describe('File name that the recipient of a document sees'),
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
  async handle(input, call) {
    const { type, url, caption = null, filename = null } = input
    const media = await parseMediaUrl(url, type, call.context.config.media)
    const sent = await send(call, input, { type, body: caption, filename, ...media })
    return { ...sent, type }
  },
})
