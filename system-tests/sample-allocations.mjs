import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'

// Loaded into a process: the first SIGUSR2 begins to sample what it allocates on the heap of JavaScript, the next one ends
// it. Each writes the bytes until then to a file named ALLOCATIONS_FILE followed by the process id.
const file = `${process.env.ALLOCATIONS_FILE}${process.pid}`
const session = new Session()
session.connect()
let isRunning = false

/** @param {number} bytes */
function write(bytes) {
  writeFileSync(`${file}.part`, String(bytes))
  renameSync(`${file}.part`, file)
}

process.on('SIGUSR2', () => {
  if (isRunning)
    session.post('HeapProfiler.stopSampling', (_error, { profile }) => write(sumOf(profile.head)))
  else
    session.post(
      'HeapProfiler.startSampling',
      {
        samplingInterval: 4096,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      },
      () => write(0),
    )
  isRunning = !isRunning
})

/**
 * @param {import('node:inspector').HeapProfiler.SamplingHeapProfileNode} node
 * @returns {number}
 */
function sumOf({ selfSize, children }) {
  return children.reduce((sum, child) => sum + sumOf(child), selfSize)
}
