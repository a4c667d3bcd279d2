import type { Database } from '@wagate/db/client'
import { keepHouse } from '@wagate/db/queries/housekeeping'
import type { Logger } from '@wagate/shared/logger'
import type { Running } from '@wagate/shared/running'

const everyMs = 3_600_000

/** Keeps house at the start and every hour. All workers try; one at a time does it. */
export function startHousekeeping(db: Database, logger: Logger, retentionDays: number): Running {
  async function run(): Promise<void> {
    try {
      const done = await keepHouse(db, { retentionDays })
      if (done?.droppedPartitions.length) {
        logger.info({ partitions: done.droppedPartitions }, 'Messages past the retention were dropped')
      }
    } catch (error) {
      logger.warn({ err: error }, 'Housekeeping failed and is tried again in an hour')
    }
  }

  let running = run()
  const timer = setInterval(() => {
    running = running.then(run)
  }, everyMs)
  return {
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
