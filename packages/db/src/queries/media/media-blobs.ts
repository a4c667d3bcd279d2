import type { Database } from '../../client.ts'

/** The type that the data: URL of a message declared, and the number of its bytes. */
export async function findMediaBlob(
  db: Database,
  messageId: string,
): Promise<{ mime: string; size: number } | undefined> {
  const [row] = await db.$client<{ mime: string; size: number }[]>`
    SELECT mime, octet_length(bytes) AS size FROM media_blobs WHERE message_id = ${messageId}`
  return row
}

/** Reading in parts keeps each statement short over a slow connection to Postgres. */
export async function findMediaBlobPart(
  db: Database,
  messageId: string,
  part: { start: number; length: number },
): Promise<Buffer | undefined> {
  const [row] = await db.$client<{ bytes: Buffer }[]>`
    SELECT substring(bytes FROM ${part.start + 1}::int FOR ${part.length}::int) AS bytes
    FROM media_blobs WHERE message_id = ${messageId}`
  return row?.bytes
}
