import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import { rateLimited } from '../limits/rate-limited.ts'

/** Throws `rate_limited` when too many pages of the account are waiting. */
export type PageTurns = <Page>(
  accountId: number,
  signal: AbortSignal,
  read: () => Promise<Page>,
) => Promise<Page>

/** Fewer than the read connections, to leave some for cheaper reads. */
const readsMax = 6
/** Besides the page that is being read. */
const waitingOfAccountMax = 20
/** After a page, its account pauses for the time that the page took times this factor. */
const restFactor = 3
/** A slower read has mostly waited for Postgres, which costs this process nothing. */
const restMsMax = 100

/**
 * Reads one page at a time for each account, with a pause after it: a page of 200 long texts costs this process as much
 * as dozens of sends, so other accounts' requests go in between.
 */
export function makePageTurns(): PageTurns {
  const turns = makeFairSemaphore(readsMax, { shareMax: 1 })
  /** Acquired before `turns`, so that an account that pauses takes no turn from others. */
  const accounts = makeFairSemaphore(Number.POSITIVE_INFINITY, { shareMax: 1 })
  /** In progress or waiting, by account. */
  const pages = new Map<number, number>()

  function count(accountId: number, by: number): number {
    const now = (pages.get(accountId) ?? 0) + by
    if (now === 0) pages.delete(accountId)
    else pages.set(accountId, now)
    return now
  }

  async function readInTurn<Page>(
    accountId: number,
    signal: AbortSignal,
    read: () => Promise<Page>,
  ): Promise<Page> {
    const release = await turns.acquire(String(accountId), 1, signal)
    try {
      return await read()
    } finally {
      release()
    }
  }

  return async (accountId, signal, read) => {
    if (count(accountId, 1) > 1 + waitingOfAccountMax) {
      count(accountId, -1)
      const sentence = 'Too many concurrent requests for pages of messages. Try again.'
      throw rateLimited('message-pages', sentence, 1)
    }
    try {
      const release = await accounts.acquire(String(accountId), 1, signal)
      const startedAt = performance.now()
      return await readInTurn(accountId, signal, read).finally(() =>
        // setImmediate, so that the time includes writing the response.
        setImmediate(() => {
          const restMs = Math.min(restMsMax, restFactor * (performance.now() - startedAt))
          setTimeout(release, restMs).unref()
        }),
      )
    } finally {
      count(accountId, -1)
    }
  }
}
