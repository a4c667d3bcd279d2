import { parentPort } from 'node:worker_threads'
import { inspectFile } from './inspect-file.ts'
import type { InspectionRequest } from './media-facts.ts'

/** The thread of the inspection process that parses files: the main thread stays free to watch it. */
parentPort?.on('message', async (request: InspectionRequest) => {
  parentPort?.postMessage(await inspectFile(request))
})
parentPort?.postMessage('ready')
