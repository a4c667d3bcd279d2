import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { MediaStore } from '@wagate/media-store/media-store'
import { type FileSigns, readSigns } from '@wagate/shared/file-signs'
import { fileTypeFromBuffer } from 'file-type'
import { AppError } from '../errors/app-error.ts'
import { discardRest, piecesOf, refuseCompression, tooLarge } from './read-body.ts'
import { boundaryOf, readMultipart } from './read-multipart.ts'

export type FileRules = {
  bytesMax: number
  /** Why a file of this type is refused. Undefined if it is not recognised. */
  findFault(mime: string | undefined): AppError | undefined
}

/** A file on this machine. `sha256` is in hex, `claim` is the content type that came with the file. */
export type ReceivedFile = {
  path: string
  size: number
  sha256: string
  signs: FileSigns
  claim: string | undefined
  filename: string | undefined
  remove(): Promise<void>
}

/** Of a write. The type of a file is read from the first one. */
const pieceBytesMin = 64 * 1024

/**
 * Writes the body of a request, or the file in its form, to a file, piece by piece. It is refused as soon as its size or its
 * type breaks the rules. Nothing is left when this rejects, as it does when the client breaks off.
 */
export async function receiveFile(
  request: Request,
  store: Pick<MediaStore, 'stagingFolder'>,
  rules: FileRules,
): Promise<ReceivedFile> {
  refuseCompression(request)
  const boundary = boundaryOf(request)
  // The parts of a form are a little more than their file.
  if (!boundary && Number(request.headers.get('content-length')) > rules.bytesMax)
    throw tooLarge(rules.bytesMax)
  if (!request.body) throw empty()
  const path = join(await store.stagingFolder(), `upload-${randomUUID()}`)
  const reader = request.body.getReader()
  const remove = () => rm(path, { force: true })
  try {
    const { filename, claim, pieces } = boundary
      ? await readMultipart(piecesOf(reader), boundary)
      : {
          filename: undefined,
          claim: request.headers.get('content-type') ?? undefined,
          pieces: piecesOf(reader),
        }
    const written = await writeFile(path, pieces, rules)
    return { ...written, path, filename, claim, remove }
  } catch (error) {
    await remove()
    throw error
  } finally {
    void discardRest(reader)
  }
}

async function writeFile(path: string, pieces: AsyncIterable<Uint8Array>, rules: FileRules) {
  const handle = await open(path, 'wx', 0o600)
  try {
    return await writePieces(handle, pieces, rules)
  } finally {
    await handle.close()
  }
}

async function writePieces(
  handle: FileHandle,
  pieces: AsyncIterable<Uint8Array>,
  { bytesMax, findFault }: FileRules,
): Promise<Pick<ReceivedFile, 'size' | 'sha256' | 'signs'>> {
  const hash = createHash('sha256')
  let size = 0
  let signs: FileSigns = {}
  for await (const piece of inLargePieces(pieces)) {
    const isFirst = size === 0
    size += piece.length
    if (size > bytesMax) throw tooLarge(bytesMax)
    if (isFirst) {
      signs = readSigns(await fileTypeFromBuffer(piece), piece)
      const fault = findFault(signs.mime)
      if (fault) throw fault
    }
    hash.update(piece)
    await handle.writeFile(piece)
  }
  if (size === 0) throw empty()
  return { size, sha256: hash.digest('hex'), signs }
}

/** Each one has at least `pieceBytesMin`, except for the last. It is valid until the next one is asked for. */
export async function* inLargePieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const gathered = Buffer.allocUnsafe(pieceBytesMin)
  let size = 0
  for await (const piece of pieces) {
    if (size + piece.byteLength < pieceBytesMin) {
      gathered.set(piece, size)
      size += piece.byteLength
    } else {
      yield Buffer.concat([gathered.subarray(0, size), piece])
      size = 0
    }
  }
  if (size > 0) yield gathered.subarray(0, size)
}

function empty(): AppError {
  return new AppError('invalid_media', 'The file is empty.')
}
