import { Readable } from 'node:stream'
import type { Database } from '@wagate/db/client'
import { findMedia } from '@wagate/db/queries/media/media-content'
import type { MediaStore } from '@wagate/media-store/media-store'
import type { FairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { Logger } from '@wagate/runtime/logger'
import { completeFilename } from '@wagate/shared/file-names'
import type { LinkedMedia } from '@wagate/shared/media-links'
import type { Admission } from '../credentials/admit-caller.ts'
import { AppError } from '../errors/app-error.ts'
import type { HttpAnswer } from '../http/http-answer.ts'
import { allowMethods } from '../http/methods.ts'
import type { RequestContext } from '../http/request-context.ts'
import { rateLimited } from '../limits/rate-limited.ts'
import { admitMediaReader } from './admit-media-reader.ts'
import type { MediaLinks } from './media-links.ts'

type MediaContext = {
  readDb: Database
  log: Logger
  media: { store: MediaStore; links: MediaLinks; reads: FairSemaphore }
}

type StoredFile = { sha256: string; mime: string; size: number; filename: string }

const pendingRetrySeconds = 5

/** The file of a received message, to download: a browser never shows it as a page of this host. */
export async function answerMedia(
  context: MediaContext,
  admission: Admission,
  request: RequestContext,
): Promise<HttpAnswer> {
  const { raw, responseHeaders, deadline } = request
  request.known.operation = 'media'
  const method = allowMethods(request, ['GET', 'HEAD'])
  if (method === 'options') return { status: 204 }
  const reader = await admitMediaReader(admission, context.media.links, request)
  const file = await deadline.run(() => getFile(context, reader))
  const { sha256, mime, size, filename } = file
  const etag = `"${sha256}"`
  const range = isCurrent(raw, etag) ? parseRange(raw.headers.get('range'), size) : undefined
  if (range === 'unsatisfiable') {
    responseHeaders['Content-Range'] = `bytes */${size}`
    throw new AppError('range_not_satisfiable', `The file has ${size} bytes. Request a range within them.`)
  }
  const length = range ? range.last - range.first + 1 : size
  const bytes =
    method === 'HEAD' ? null : await open(context, { ...reader, ...file }, request, { range, length })
  Object.assign(responseHeaders, {
    'Accept-Ranges': 'bytes',
    'Content-Disposition': contentDisposition(filename),
    'Content-Length': String(length),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    ETag: etag,
    ...(range && { 'Content-Range': `bytes ${range.first}-${range.last}/${size}` }),
  })
  return { status: range ? 206 : 200, content: { type: mime, bytes } }
}

async function getFile({ readDb }: MediaContext, { accountId, messageId }: LinkedMedia): Promise<StoredFile> {
  const media = await findMedia(readDb, accountId, messageId)
  if (!media)
    throw new AppError('media_not_found', 'The account has no received message with a file under this id.')
  const { state, reason, sha256, mime, size } = media
  if (state === 'pending') {
    throw new AppError('media_pending', 'The file is being downloaded. Try again.', {
      retryAfterSeconds: pendingRetrySeconds,
    })
  }
  if (!sha256 || !mime || !size || state !== 'stored') throw unavailable(reason ?? 'expired')
  return {
    sha256,
    mime,
    size,
    filename: completeFilename(media.filename ?? messageId, { mime, extension: undefined }),
  }
}

function unavailable(reason: string): AppError {
  return new AppError('media_unavailable', `The gateway does not have the file: ${reason}.`)
}

/** RFC 9110, 13.1.5: a range of another version of the file is not wanted. */
function isCurrent({ headers }: Request, etag: string): boolean {
  const wanted = headers.get('if-range')
  return wanted === null || wanted === etag
}

async function open(
  { media, log }: MediaContext,
  { accountId, messageId, sha256 }: LinkedMedia & StoredFile,
  { deadline }: RequestContext,
  { range, length }: { range: Exclude<ReturnType<typeof parseRange>, 'unsatisfiable'>; length: number },
): Promise<ReadableStream<Uint8Array>> {
  const release = media.reads.tryAcquire(String(accountId), 1)
  if (!release) {
    const sentence = 'Too many concurrent downloads of received files. Try again.'
    throw rateLimited('media-downloads', sentence, 1)
  }
  try {
    const stream = await deadline.run(async () => {
      const opened = await media.store.read({ accountId, sha256 }, range)
      if (deadline.isOver) opened?.destroy()
      return opened
    })
    if (stream) {
      stream.once('close', release)
      return Readable.toWeb(Readable.from(firstBytes(stream, length))) as ReadableStream<Uint8Array>
    }
  } catch (error) {
    release()
    throw error
  }
  release()
  log.warn({ messageId }, 'A stored file is missing in the media store')
  throw unavailable('expired')
}

/** What is longer than announced would be read as the next answer of the connection. */
export async function* firstBytes(stream: Readable, length: number): AsyncGenerator<Uint8Array> {
  let left = length
  for await (const chunk of stream) {
    yield chunk.subarray(0, left)
    left -= chunk.length
    if (left <= 0) return
  }
}

/** RFC 6266: a name in ASCII for old clients, and the exact one. */
function contentDisposition(filename: string): string {
  const ascii = filename.replaceAll(/[^\w.() -]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeName(filename)}`
}

/** RFC 8187 allows fewer characters than encodeURIComponent leaves. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Offsets of the first and the last byte. */
type ByteRange = { first: number; last: number }

/**
 * Of a file that is not empty. Undefined: answer with all of it, which RFC 9110 (14.2) allows for everything but one valid
 * range. `unsatisfiable`: the range begins behind the end.
 */
function parseRange(header: string | null, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  if (from === '') {
    const length = Number(to)
    return length === 0 ? 'unsatisfiable' : { first: Math.max(0, size - length), last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < first) return undefined
  return first >= size ? 'unsatisfiable' : { first, last }
}
