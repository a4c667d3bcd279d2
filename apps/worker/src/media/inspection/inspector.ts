import { makeFairSemaphore } from '@wagate/runtime/fair-semaphore'
import type { Logger } from '@wagate/runtime/logger'
import { MediaError } from '../media-error.ts'
import {
  type InspectionAnswer,
  type InspectionProcess,
  startInspectionProcess,
} from './inspection-process.ts'
import type { InspectionRequest, MediaFacts } from './media-facts.ts'

export type Inspector = {
  /**
   * Files are inspected one at a time, in turn for each account. Throws MediaError `invalid_media` for a file that
   * is damaged or ended the process twice, and InspectionTimeout for one that may be sound: the machine may be busy.
   */
  inspect(account: string, request: InspectionRequest): Promise<MediaFacts>
  /** Ends inspections. Safe to call twice. */
  close(): Promise<void>
}

export class InspectionTimeout extends Error {}

export type InspectorOptions = {
  logger: Logger
  /** Node options that let the process run from source; by default those of this process. */
  nodeOptions?: string[]
  timeoutMs?: number
}

const triesMax = 2
/** The process ends itself much earlier unless it hangs or gets no CPU time. */
const inspectionMsMax = 10_000

/** Parses media in a separate process, which is started with the first file and restarted whenever it has ended. */
export function makeInspector({
  logger,
  nodeOptions,
  timeoutMs = inspectionMsMax,
}: InspectorOptions): Inspector {
  const turns = makeFairSemaphore(1, { shareMax: 1 })
  let running: InspectionProcess | undefined
  let isClosed = false

  async function tryOnce(account: string, request: InspectionRequest): Promise<InspectionAnswer> {
    const release = await turns.acquire(account, 1)
    try {
      if (isClosed) throw new Error('The inspector of media is closed')
      if (!running || running.hasEnded()) running = await startInspectionProcess(nodeOptions)
      return await running.ask(request, timeoutMs)
    } finally {
      release()
    }
  }

  return {
    async inspect(account, request) {
      for (let tries = 0; tries < triesMax; tries++) {
        const facts = await tryOnce(account, request)
        if (facts === null) throw new MediaError('invalid_media')
        if (facts === 'timed_out') throw new InspectionTimeout('The inspection of a media file took too long')
        if (facts !== 'ended') return facts
        logger.warn({ type: request.type, tries: tries + 1 }, 'A media file ended the inspection process')
      }
      throw new MediaError('invalid_media')
    },
    async close() {
      isClosed = true
      await running?.close()
    },
  }
}
