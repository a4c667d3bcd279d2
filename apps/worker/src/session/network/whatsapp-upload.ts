import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { startDeadline } from '@wagate/runtime/deadline'
import { ask } from '@wagate/runtime/http-client'
import {
  DEFAULT_ORIGIN,
  encodeBase64EncodedStringForUpload,
  MEDIA_PATH_MAP,
  type WAMediaUploadFunction,
  type WASocket,
} from 'baileys'
import { z } from 'zod'
import type { WhatsAppRoute } from './whatsapp-route.ts'

type UploadLimits = {
  /** Without any data in either direction. */
  idleMs: number
  /** The deadline in all, for all hosts that WhatsApp names: this, and the time that the file takes at the slowest rate. */
  baseMs: number
  bytesPerSecondMin: number
}

const defaultLimits: UploadLimits = { idleMs: 60_000, baseMs: 60_000, bytesPerSecondMin: 64 * 1024 }
const redirectsMax = 5
const answerCharactersMax = 64 * 1024

const placeSchema = z
  .object({ url: z.string().optional(), direct_path: z.string().optional() })
  .refine(({ url, direct_path }) => url || direct_path)

/**
 * Uploads an encrypted file to the first of WhatsApp's hosts that takes it, and settles by its deadline whatever they do.
 * It replaces the upload of Baileys, which waits for ever when an answer breaks off, and has no deadline.
 */
export function makeWhatsAppUpload(
  { refreshMediaConn }: Pick<WASocket, 'refreshMediaConn'>,
  route: WhatsAppRoute,
  limits = defaultLimits,
): WAMediaUploadFunction {
  return async (path, { mediaType, fileEncSha256B64 }) => {
    const { size } = await stat(path)
    const deadlineMs = limits.baseMs + (size / limits.bytesPerSecondMin) * 1000
    const { signal, bound, release } = startDeadline(deadlineMs)
    const token = encodeBase64EncodedStringForUpload(fileEncSha256B64)
    const post = { file: { path, size }, route, signal, deadlineMs, idleMs: limits.idleMs }

    const uploadToAny = async () => {
      let { hosts, auth } = await refreshMediaConn(false)
      let failure: unknown = new Error('WhatsApp named no host for uploads')
      for (const { hostname } of hosts) {
        const query = `auth=${encodeURIComponent(auth)}&token=${token}`
        try {
          return await postFile(
            new URL(`https://${hostname}${MEDIA_PATH_MAP[mediaType]}/${token}?${query}`),
            post,
          )
        } catch (error) {
          signal.throwIfAborted()
          failure = error
          // What was given for `auth` may have expired.
          if (error instanceof UploadRefused) auth = (await refreshMediaConn(true)).auth
        }
      }
      throw failure
    }

    try {
      return await bound(uploadToAny(), () => undefined)
    } finally {
      release()
    }
  }
}

/** The answer of a host does not say where the file is. */
class UploadRefused extends Error {
  constructor(status: number | undefined) {
    super(`A host of WhatsApp did not take a file, and answered with status ${status}`)
  }
}

type Post = {
  file: { path: string; size: number }
  route: WhatsAppRoute
  signal: AbortSignal
  deadlineMs: number
  idleMs: number
}

async function postFile(
  url: URL,
  { file, route, ...limits }: Post,
): Promise<Awaited<ReturnType<WAMediaUploadFunction>>> {
  const answer = await ask({
    ...route.to(url),
    ...limits,
    method: 'POST',
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': file.size,
      origin: DEFAULT_ORIGIN,
    },
    body: () => createReadStream(file.path),
    redirectsMax,
  })
  const { data } = placeSchema.safeParse(parse(await readText(answer)))
  if (!data) throw new UploadRefused(answer.statusCode)
  return { mediaUrl: data.url ?? '', directPath: data.direct_path ?? '' }
}

async function readText(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) {
    text += chunk
    if (text.length > answerCharactersMax) throw new Error('The answer to an upload is too long')
  }
  return text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
