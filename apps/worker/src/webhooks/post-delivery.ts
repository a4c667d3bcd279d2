import http from 'node:http'
import https from 'node:https'
import { answerOf } from '@wagate/runtime/http-answer'
import { readRetryAfterMs } from '../media/fetch-failure.ts'
import { ForbiddenTarget, type TargetGuard } from './target-guard.ts'

/** `status`: null without a response. `answer`: the beginning of its body. */
export type PostResult = {
  status: number | null
  error: string | null
  answer: string | null
  retryAfterMs: number | undefined
  durationMs: number
}

export type PostLimits = { deadlineMs: number; guard: TargetGuard }

type Post = { url: string; headers: Record<string, string | number>; body: string }

const answerBytesMax = 4096
const answerCharsMax = 1024

/** Never throws, and follows no redirect. Takes at most `deadlineMs`. */
export async function postDelivery(post: Post, { deadlineMs, guard }: PostLimits): Promise<PostResult> {
  const startedMs = performance.now()
  const signal = AbortSignal.timeout(deadlineMs)
  const result = await attempt(post, guard, signal).catch((error: unknown) => ({
    status: null,
    error: signal.aborted ? 'timeout' : errorCodeOf(error),
    answer: null,
    retryAfterMs: undefined,
  }))
  return { ...result, durationMs: Math.round(performance.now() - startedMs) }
}

async function attempt(post: Post, guard: TargetGuard, signal: AbortSignal) {
  const response = await request(post, guard, signal)
  const { statusCode = 0, headers } = response
  return {
    status: statusCode,
    error: null,
    answer: await readBeginning(response),
    retryAfterMs: readRetryAfterMs(
      statusCode === 429 || statusCode === 503 ? headers['retry-after'] : undefined,
    ),
  }
}

async function request(post: Post, guard: TargetGuard, signal: AbortSignal): Promise<http.IncomingMessage> {
  const { url, headers, body } = post
  const target = new URL(url)
  const options = { method: 'POST', headers, signal, ...guard.optionsFor(target) }
  const sent = (target.protocol === 'https:' ? https : http).request(target, options)
  const answer = answerOf(sent)
  sent.end(body)
  try {
    return await answer
  } catch (error) {
    // The target has closed an idle connection at the moment at which it was used again.
    if (sent.reusedSocket && hasCode(error, 'ECONNRESET') && !signal.aborted)
      return request(post, guard, signal)
    throw error
  }
}

/** The status has decided already, so an error only ends the answer. Without its end, the connection is not used again. */
async function readBeginning(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      chunks.push(chunk)
      size += chunk.length
      if (size > answerBytesMax) break
    }
  } catch {
    response.destroy()
  }
  // Postgres stores no NUL in a text.
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '').slice(0, answerCharsMax)
}

const hasCode = (error: unknown, code: string) =>
  error instanceof Error && 'code' in error && error.code === code

/** Never the message, which may contain the address. */
function errorCodeOf(error: unknown): string {
  if (error instanceof ForbiddenTarget) return 'forbidden_address'
  return error instanceof Error && 'code' in error ? String(error.code) : 'connection_failed'
}
