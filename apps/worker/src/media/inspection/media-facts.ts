import type { MediaType } from '@wagate/shared/statuses'
import { z } from 'zod'

/** What the process is asked: to look at a file that was sent as this type. */
export type InspectionRequest = { file: string; type: MediaType }

const thumbnailCharsMax = 20_000
const pixels = z.int().min(1).max(1_000_000)

/** What the bytes of a file say. All other values are left out for a type that they do not accept. */
const mediaFacts = z.object({
  /** Undefined when nothing is recognised. */
  mime: z.string().max(100).optional(),
  /** Of a recognised type, without a dot. */
  extension: z.string().max(20).optional(),
  width: pixels.optional(),
  height: pixels.optional(),
  seconds: z.int().min(0).max(1_000_000).optional(),
  /** JPEG in base64. */
  thumbnail: z.string().max(thumbnailCharsMax).optional(),
})

export type MediaFacts = z.infer<typeof mediaFacts>

/** `null`: the file is damaged so that it cannot be sent as its type. */
export const inspectionAnswer = mediaFacts.nullable()
