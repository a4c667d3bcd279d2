import { writeFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { ownUrl } from './own-url.ts'

/** Far above the need of an honest file, far below the memory that is planned for a worker. */
const rssBytesMax = 384 * 2 ** 20
const heapMbMax = 128
/** CPU time for one file; on a busy machine an honest file may take longer by the clock. */
const cpuMsMax = 2000
const watchMs = 20

preferAsVictim()
const thread = new Worker(ownUrl(import.meta.url, 'inspection-thread'), {
  resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
})
let startedAt: NodeJS.CpuUsage | undefined
thread.on('message', (answer) => {
  startedAt = undefined
  process.send?.(answer, undefined, undefined, () => undefined)
})
// Out of memory or a bug: the worker starts another process.
thread.on('error', end)
thread.on('exit', end)
process.on('message', (request) => {
  startedAt = process.cpuUsage()
  thread.postMessage(request)
})
process.on('disconnect', end)
// The worker may have ended while this file was being loaded.
if (!process.connected) end()
setInterval(() => {
  if (process.memoryUsage.rss() > rssBytesMax || usedMs(startedAt) > cpuMsMax) end()
}, watchMs)

function usedMs(since: NodeJS.CpuUsage | undefined): number {
  if (!since) return 0
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

/** Exits at once: an ordinary exit would wait for the picture that is being decoded. */
function end(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** When the memory of the machine or container runs out, Linux ends this process before any other. */
function preferAsVictim(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Not Linux: the limits above hold without it.
  }
}
