import type { MediaUnavailableReason } from '@wagate/shared/received-media'
import type postgres from 'postgres'
import type { Columns } from '../statements/rows.ts'

/** The file of a message that is being stored. */
export type NewReceivedMedia = {
  declaredMime: string | null
  filename: string | null
  /** As the sender claims. */
  size: number | null
  sha256: Buffer | null
} & ({ state: 'pending'; sealed: Buffer } | { state: 'unavailable'; reason: MediaUnavailableReason })

/** Of a relation of received messages, some of which have a file. */
export const mediaColumns: Columns<{ media?: NewReceivedMedia | undefined }> = {
  media_state: ['text', ({ media }) => media?.state ?? null],
  media_reason: ['text', ({ media }) => (media?.state === 'unavailable' ? media.reason : null)],
  media_mime: ['text', ({ media }) => media?.declaredMime ?? null],
  media_filename: ['text', ({ media }) => media?.filename ?? null],
  media_size: ['bigint', ({ media }) => media?.size ?? null],
  media_sha256: ['text', ({ media }) => media?.sha256?.toString('base64') ?? null],
  media_sealed: [
    'text',
    ({ media }) => (media?.state === 'pending' ? media.sealed.toString('base64') : null),
  ],
}

/** A step of the statement that stores messages: `given` with `mediaColumns`, of which `stored` were new. */
export function insertReceivedMedia(sql: postgres.ISql) {
  return sql`
    INSERT INTO received_media
      (message_id, account_id, device_id, state, reason, declared_mime, filename, size, sha256, sealed, next_attempt_at)
    SELECT given.id, given.account_id, given.device_id, media_state, media_reason, media_mime, media_filename,
      media_size, decode(media_sha256, 'base64'), decode(media_sealed, 'base64'),
      CASE media_state WHEN 'pending' THEN now() END
    FROM given JOIN stored ON stored.id = given.id WHERE media_state IS NOT NULL`
}
