import type { MediaStore } from '@wagate/media-store/media-store'
import type { ExportPage } from './export-stream.ts'

export type FileToRead = { name: string; mime: string; size: number; sha256: string; uploadId?: string }

/** 512 KiB as base64. */
const partBytes = 384 * 1024

/** A line for each part of a file, or one that says that it is not there any more. Nothing is open between two parts. */
export async function* readFileParts(
  store: Pick<MediaStore, 'read'>,
  accountId: number,
  { uploadId, size, ...file }: FileToRead,
): AsyncGenerator<ExportPage> {
  const content = { accountId, sha256: file.sha256, ...(uploadId !== undefined && { uploadId }) }
  const parts = Math.max(1, Math.ceil(size / partBytes))
  for (let part = 1; part <= parts; part++) {
    const first = (part - 1) * partBytes
    const last = Math.min(first + partBytes, size) - 1
    const stream = await store.read(content, { first, last })
    if (!stream) {
      yield [{ type: 'missing_file', ...file, size }]
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk)
    yield [{ type: 'file', ...file, size, part, parts, data: Buffer.concat(chunks).toString('base64') }]
  }
}
