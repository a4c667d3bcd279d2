import { setTimeout as delay } from 'node:timers/promises'
import {
  type FailedPage,
  firstWaiting,
  type WaitingPosition,
} from '@wagate/db/queries/messages/unsendable-messages'

/** The pause between two statements, in which others of the shard run, above all a handover. */
const pauseMs = 20

/** Ends waiting messages page by page until none is left or `mayGoOn` returns false. Returns how many. */
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
