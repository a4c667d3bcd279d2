import { setTimeout as delay } from 'node:timers/promises'
import { type EndedPage, firstWaiting, type WaitingPosition } from '@wagate/db/queries/end-waiting'

/** Between two statements: others of the shard, a hand-over first of all, get their turn. */
const pauseMs = 20

/** Ends waiting messages page by page until nothing is left or `mayGoOn` says no. Answers how many. */
export async function endInPages(
  endPage: (from: WaitingPosition) => Promise<EndedPage>,
  mayGoOn: () => boolean,
): Promise<number> {
  let ended = 0
  let from: WaitingPosition | undefined = firstWaiting
  while (from && mayGoOn()) {
    const page = await endPage(from)
    ended += page.ended
    from = page.next
    if (page.ended > 0) await delay(pauseMs)
  }
  return ended
}
