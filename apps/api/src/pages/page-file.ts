import { readFile } from 'node:fs/promises'
import { type HttpAnswer, jsonType } from '../http/http-answer.ts'
import type { RequestContext } from '../http/request-context.ts'

/** The pages load nothing from other hosts and work without the internet. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export type PageFile = { type: string; read(): string | Promise<Uint8Array<ArrayBuffer>> }

export const pageTypes = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: jsonType,
  png: 'image/png',
}

/** Read once: the largest file has 1.4 MB. */
export function fileOf(type: string, path: string | URL): PageFile {
  let bytes: Promise<Uint8Array<ArrayBuffer>> | undefined
  const read = () => {
    bytes ??= readFile(path).catch((error: unknown) => {
      bytes = undefined
      throw error
    })
    return bytes
  }
  return { type, read }
}

/** Beside `src` and `dist`, so that both find it. It needs no build step. */
const folder = new URL('../../page/', import.meta.url)

/** A file of `apps/api/page`. */
export function pageFile(path: string): PageFile {
  const type = path.endsWith('.html') ? pageTypes.html : path.endsWith('.css') ? pageTypes.css : pageTypes.js
  return fileOf(type, new URL(path, folder))
}

export async function answerFile(
  { type, read }: PageFile,
  { responseHeaders }: RequestContext,
): Promise<HttpAnswer> {
  responseHeaders['Content-Security-Policy'] = contentSecurityPolicy
  return { status: 200, content: { type, bytes: await read() } }
}
