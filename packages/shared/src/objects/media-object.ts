import { z } from 'zod'
import type { LinkedMedia } from '../media-links.ts'
import {
  type MediaState,
  type MediaUnavailableReason,
  mediaStates,
  mediaUnavailableReasons,
} from '../received-media.ts'
import { extensibleEnum } from './extensible-enum.ts'

export const mediaObject = z
  .object({
    state: z
      .enum(mediaStates)
      .describe('`pending` while the gateway downloads the file, then `stored` or `unavailable`'),
    mime: z
      .string()
      .nullable()
      .describe(
        'Type of the file: by its bytes, and by its name and what the sender declares where they fit the bytes. `application/octet-stream` if unknown. Null until it is stored',
      ),
    declared_mime: z
      .string()
      .optional()
      .describe('Type that the sender declares, where it is another one than `mime`. Only when it is stored'),
    size: z.int().nullable().describe('Bytes. Null until it is stored'),
    sha256: z.string().nullable().describe('SHA-256 of the file in hexadecimal. Null until it is stored'),
    filename: z.string().nullable().describe('Name that the sender gave to a document'),
    reason: extensibleEnum(mediaUnavailableReasons).optional().describe('Why it is unavailable'),
    url: z
      .string()
      .optional()
      .describe('Link to the file without an API key, valid for one to two hours. Only when it is stored'),
  })
  .meta({ id: 'Media' })

/** The file of a received message as the database has it. */
export type MediaRow = {
  accountId: number
  state: MediaState
  reason: MediaUnavailableReason | null
  mime: string | null
  declaredMime: string | null
  filename: string | null
  size: number | null
  /** Hex. */
  sha256: string | null
}

/** Makes the link to a file. */
export type MediaLinker = (media: LinkedMedia) => string

export function toMediaObject(
  messageId: string,
  { accountId, state, reason, mime, declaredMime, filename, size, sha256 }: MediaRow,
  linkTo: MediaLinker | undefined,
): z.infer<typeof mediaObject> {
  if (state === 'stored') {
    const url = linkTo?.({ accountId, messageId })
    const declared = declaredMime !== null && declaredMime !== mime && { declared_mime: declaredMime }
    return { state, mime, ...declared, size, sha256, filename, ...(url !== undefined && { url }) }
  }
  return { state, mime: null, size: null, sha256: null, filename, ...(reason && { reason }) }
}
