import {
  type DueMedia,
  listDueMedia,
  postponeMedia,
  setMediaUnavailable,
} from '@wagate/db/queries/media/received-media'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import type { Running } from '@wagate/runtime/running'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import type { DeviceContext } from '../device/device-context.ts'
import type { Lease } from '../ownership/lease.ts'
import type { WASocket } from '../session/connection/socket.ts'
import { fetchReceived } from './fetch-received.ts'
import { MediaGone, MediaLost } from './media-failure.ts'

/** At a time, in this process and of one account. */
const downloadsMax = 16
const downloadsOfAccountMax = 4

/** `openSock`: undefined while the device has no connection. */
type Shard = { lease: Lease; devices: ReadonlyMap<number, { openSock(): WASocket | undefined }> }

/**
 * Downloads the files of received messages of the owned shards: when a message arrives, and by a poll, which also finds
 * what another owner has not finished.
 */
export function startMediaDownloads(context: DeviceContext, hosted: ReadonlyMap<number, Shard>): Running {
  const { config, db, logger, metrics, media } = context
  /** Accounts by message. */
  const running = new Map<string, number>()
  const poll = makeSingleFlight(pollOnce, (err) => logger.warn({ err }, 'Polling for received files failed'))
  const timer = setInterval(poll, config.outbox.pollMs)
  let isClosed = false
  media.arrivals.onArrival(poll)

  async function pollOnce(): Promise<void> {
    const free = downloadsMax - running.size
    if (isClosed || free <= 0 || hosted.size === 0) return
    const due = await listDueMedia(db, {
      shards: [...hosted.keys()],
      except: [...running.keys()],
      max: free,
      maxOfAccount: downloadsOfAccountMax,
    })
    for (const media of due) if (countRunning(media.accountId) < downloadsOfAccountMax) start(media)
  }

  function countRunning(accountId: number): number {
    return [...running.values()].filter((account) => account === accountId).length
  }

  function start(media: DueMedia): void {
    const shard = hosted.get(media.shard)
    if (!shard) return
    running.set(media.messageId, media.accountId)
    void run(media, shard)
      .catch((error: unknown) => {
        if (error instanceof OwnershipLost) context.onLost(error)
        else if (!isClosed) logger.warn({ err: error, deviceId: media.deviceId }, 'Recording a file failed')
      })
      .finally(() => {
        running.delete(media.messageId)
        context.publishEventHint(media.accountId)
        poll()
      })
  }

  async function run(media: DueMedia, { lease, devices }: Shard): Promise<void> {
    try {
      const findSock = () => devices.get(media.deviceId)?.openSock()
      await fetchReceived(context, media, { lease, findSock })
      metrics.receivedMedia.inc({ result: 'stored' })
    } catch (error) {
      if (error instanceof OwnershipLost) throw error
      await recordFailure(media, lease, error)
    }
  }

  async function recordFailure(media: DueMedia, lease: Lease, error: unknown): Promise<void> {
    if (isClosed) return
    const { deviceId, attempts } = media
    const pauseMs = error instanceof MediaLost ? undefined : pauseAfterMs(attempts)
    if (pauseMs !== undefined) {
      logger.info(
        { err: error, deviceId, attempts, pauseMs },
        'Downloading a received file failed, will retry',
      )
      metrics.receivedMedia.inc({ result: 'retry' })
      return postponeMedia(db, lease, media, pauseMs)
    }
    const reason =
      error instanceof MediaLost ? error.reason : error instanceof MediaGone ? 'expired' : 'download_failed'
    logger.info({ err: error, deviceId, reason }, 'A received file is not available')
    metrics.receivedMedia.inc({ result: reason })
    await setMediaUnavailable(db, lease, media, reason)
  }

  return {
    async close() {
      isClosed = true
      clearInterval(timer)
    },
  }
}

const minuteMs = 60_000
const pausesMs = [5000, 30_000, 2 * minuteMs, 10 * minuteMs, 60 * minuteMs, 6 * 60 * minuteMs]

/** The pause after an attempt that failed. Undefined after the last one. `failed`: how many had failed before it. */
function pauseAfterMs(failed: number): number | undefined {
  return pausesMs[failed]
}
