import type { IncomingMessage } from 'node:http'
import { DeadlineExceeded } from '@wagate/runtime/deadline'
import { ask } from '@wagate/runtime/http-client'
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

type Post = { url: string; accountId: number; headers: Record<string, string | number>; body: string }

const answerBytesMax = 4096
const answerCharsMax = 1024

/** Never throws, and follows no redirect. Takes at most `deadlineMs`. */
export async function postDelivery(post: Post, limits: PostLimits): Promise<PostResult> {
  const startedMs = performance.now()
  const result = await attempt(post, limits).catch((error: unknown) => ({
    status: null,
    error: errorCodeOf(error),
    answer: null,
    retryAfterMs: undefined,
  }))
  return { ...result, durationMs: Math.round(performance.now() - startedMs) }
}

async function attempt({ url, accountId, ...post }: Post, { deadlineMs, guard }: PostLimits) {
  const target = new URL(url)
  const connection = guard.optionsFor(target, accountId)
  const response = await ask({ url: target, method: 'POST', ...post, deadlineMs, ...connection })
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

/** The status has decided already, so an error only ends the answer. Without its end, the connection is not used again. */
async function readBeginning(response: IncomingMessage): Promise<string> {
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

/** Never the message, which may contain the address. */
function errorCodeOf(error: unknown): string {
  if (error instanceof DeadlineExceeded) return 'timeout'
  if (error instanceof ForbiddenTarget) return 'forbidden_address'
  return error instanceof Error && 'code' in error ? String(error.code) : 'connection_failed'
}
