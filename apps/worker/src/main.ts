import './preload.ts'
import { collectAtRest } from '@wagate/runtime/collect-at-rest'
import { makeLogger } from '@wagate/runtime/logger'
import { makePrivateFolder, removeFolder } from '@wagate/runtime/private-folder'
import { configurationOrExit } from '@wagate/runtime/run-command'
import { readConfig } from './config/config.ts'
import { downloadLimits, makeWhatsAppFetch } from './session/network/whatsapp-fetch.ts'
import { startWorker } from './start.ts'

const config = configurationOrExit(() => readConfig(process.env))
const logger = makeLogger('worker', config.logLevel)
// Only Baileys downloads with `fetch` in this process.
globalThis.fetch = makeWhatsAppFetch(downloadLimits)
const signals = ['SIGTERM', 'SIGINT'] as const
/** Before the worker has started, it has nothing to finish. */
const leave = () => process.exit(0)
for (const signal of signals) process.on(signal, leave)
// Baileys also puts the files that it uploads there.
const folder = makePrivateFolder('wagate-worker-')
process.env.TMPDIR = folder
process.on('exit', () => removeFolder(folder))
const worker = await startWorker(config, logger)
collectAtRest()
let isStopping = false

function stop(code: number): void {
  // A second signal forces an immediate exit.
  if (isStopping) process.exit(1)
  isStopping = true
  // Do not wait for the timers of up to 30 s that Baileys leaves behind (of its pre-key upload and initial sync).
  void worker.close().finally(() => process.exit(code))
}

for (const signal of signals) process.off(signal, leave).on(signal, () => stop(0))

// Baileys leaves rejections unhandled when a socket closes while it connects. One sender must not end the whole process.
process.on('unhandledRejection', (error) => logger.error({ err: error }, 'Unhandled rejection'))
process.on('uncaughtException', (error) => {
  logger.error({ err: error }, 'Uncaught exception')
  if (isOutOfResources(error)) stop(1)
})

/** This process will not recover, but another worker may still have these resources. */
function isOutOfResources(error: Error & { code?: unknown }): boolean {
  return ['EMFILE', 'ENFILE', 'ENOMEM', 'ERR_OUT_OF_MEMORY'].includes(String(error.code))
}
