import { setTimeout as delay } from 'node:timers/promises'
import { type FailedPage, firstWaiting, type WaitingPosition } from '@wagate/db/queries/unsendable-messages'

/** Between two statements: others of the shard, a hand-over first of all, get their turn. */
const pauseMs = 20

/** Ends waiting messages page by page until nothing is left or `mayGoOn` says no. Answers how many. */
export async function endInPages(
  endPage: (from: WaitingPosition) => Promise<FailedPage>,
  mayGoOn: () => boolean,
): Promise<number> {
  let ended = 0
  let from: WaitingPosition | undefined = firstWaiting
  while (from && mayGoOn()) {
    const page = await endPage(from)
    ended += page.failed
    from = page.next
    if (page.failed > 0) await delay(pauseMs)
  }
  return ended
}
