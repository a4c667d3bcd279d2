import { textSigns } from '@wagate/shared/file-signs'
import type { MediaType } from '@wagate/shared/message-kinds'
import { z } from 'zod'

/** A request to the process: inspect a file that was sent as this type. */
export type InspectionRequest = { file: string; type: MediaType }

const thumbnailCharsMax = 20_000
const pixels = z.int().min(1).max(1_000_000)

/** What the bytes of a file show. Other values are left out if the bytes do not fit the type. */
const mediaFacts = z.object({
  /** Undefined when the type is not recognised. */
  mime: z.string().max(100).optional(),
  /** The extension of a recognised type, without a dot. */
  extension: z.string().max(20).optional(),
  text: z.enum(textSigns).optional(),
  width: pixels.optional(),
  height: pixels.optional(),
  seconds: z.int().min(0).max(1_000_000).optional(),
  /** A JPEG in base64. */
  thumbnail: z.string().max(thumbnailCharsMax).optional(),
})

export type MediaFacts = z.infer<typeof mediaFacts>

/** `null`: the file is too damaged to be sent as its type. */
export const inspectionAnswer = mediaFacts.nullable()
