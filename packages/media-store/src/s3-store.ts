import { createReadStream, existsSync } from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { ask } from '@wagate/runtime/http-client'
import { makePrivateFolder } from '@wagate/runtime/private-folder'
import { AwsV4Signer } from 'aws4fetch'
import { type ByteRange, keyOf, type MediaContent, type MediaStore } from './media-store.ts'

export type S3Options = {
  /** Without the bucket, such as `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  /** The bucket is the first part of the path instead of a part of the host. */
  forcesPathStyle: boolean
}

type Call = {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** SHA-256 of the body, which the service verifies. */
  bodySha256?: string
  headers?: Record<string, string>
  body?: { path: string; size: number }
}

const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
/** Without any data in either direction. */
const idleMsMax = 30_000
/** Of the largest file over a slow connection. */
const deadlineMsMax = 30 * 60_000

/** The service refused a request or could not be used. Its answer is not in the message: it may quote the request. */
class S3Error extends Error {
  constructor(method: string, status: number) {
    super(`The S3 service answered a ${method} request with status ${status}`)
    this.name = 'S3Error'
  }
}

/** Objects in a bucket. A file is sent in one request of known length, so it is never in memory as a whole. */
export function openS3Store(options: S3Options): MediaStore {
  const urlOf = urlsOf(options)

  async function send(content: MediaContent, call: Call): Promise<IncomingMessage> {
    const { method, headers, body, bodySha256 = emptySha256 } = call
    const signed = await new AwsV4Signer({
      method,
      url: urlOf(content),
      headers: { ...headers, 'x-amz-content-sha256': bodySha256 },
      service: 's3',
      region: options.region,
      accessKeyId: options.accessKeyId,
      secretAccessKey: options.secretAccessKey,
    }).sign()
    return ask({
      url: signed.url,
      method,
      headers: { ...Object.fromEntries(signed.headers), ...(body && { 'content-length': body.size }) },
      agent: (signed.url.protocol === 'https:' ? https : http).globalAgent,
      idleMs: idleMsMax,
      deadlineMs: deadlineMsMax,
      ...(body && { body: () => createReadStream(body.path) }),
    })
  }

  /** For answers without content that is needed. Returns whether there is such an object. */
  async function tell(content: MediaContent, call: Call): Promise<boolean> {
    const answer = await send(content, call)
    answer.resume()
    if (answer.statusCode === 404) return false
    if (!isSuccess(answer)) throw new S3Error(call.method, answer.statusCode ?? 0)
    return true
  }

  return {
    async put(content, file) {
      const done = await tell(content, { method: 'PUT', bodySha256: content.sha256, body: file })
      if (!done) throw new S3Error('PUT', 404)
    },
    has: (content) => tell(content, { method: 'HEAD' }),
    async read(content, range) {
      const headers = range && { range: `bytes=${range.first}-${range.last}` }
      const answer = await send(content, { method: 'GET', ...(headers && { headers }) })
      if (hasExactly(answer, range)) return answer
      answer.destroy()
      if (answer.statusCode === 404) return undefined
      throw new S3Error('GET', answer.statusCode ?? 0)
    },
    async remove(content) {
      await tell(content, { method: 'DELETE' })
    },
    stagingFolder: async () => findStagingFolder(),
    // A request that was cut off leaves nothing.
    removeLeftovers: async () => undefined,
  }
}

/** Of all stores of this process: making one removes what a process with its id has left. */
let stagingFolder: string | undefined

/** Something that cleans up temporary folders may have removed it. */
function findStagingFolder(): string {
  if (!stagingFolder || !existsSync(stagingFolder)) stagingFolder = makePrivateFolder('wagate-uploads-')
  return stagingFolder
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300
}

/** A service, or a cache before it, may ignore the range and answer with the whole object. */
function hasExactly({ statusCode, headers }: IncomingMessage, range: ByteRange | undefined): boolean {
  if (!range) return statusCode === 200
  return (
    statusCode === 206 && headers['content-range']?.startsWith(`bytes ${range.first}-${range.last}/`) === true
  )
}

function urlsOf({ endpoint, bucket, forcesPathStyle }: S3Options): (content: MediaContent) => string {
  const base = new URL(endpoint)
  if (!forcesPathStyle) base.hostname = `${bucket}.${base.hostname}`
  const folder = forcesPathStyle ? `${base.pathname.replace(/\/$/, '')}/${bucket}` : ''
  return (content) => `${base.origin}${folder}/${keyOf(content)}`
}
