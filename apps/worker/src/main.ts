import './preload.ts'
import { makeLogger } from '@wagate/runtime/logger'
import { readConfig } from './config.ts'
import { makePrivateFolder, removeFolder } from './private-folder.ts'
import { downloadLimits, makeWhatsAppFetch } from './session/whatsapp-fetch.ts'
import { startWorker } from './start.ts'

const config = readConfig(process.env)
const logger = makeLogger('worker', config.LOG_LEVEL)
// Nothing in this process downloads with it but Baileys.
globalThis.fetch = makeWhatsAppFetch({ ...downloadLimits, simulatedHost: config.WHATSAPP_MEDIA_HOST })
const signals = ['SIGTERM', 'SIGINT'] as const
/** Until it has started, nothing has to be finished. */
const leave = () => process.exit(0)
for (const signal of signals) process.on(signal, leave)
// Where Baileys puts what it uploads, too.
const folder = makePrivateFolder()
process.env.TMPDIR = folder
process.on('exit', () => removeFolder(folder))
const worker = await startWorker(config, logger)
let isStopping = false

function stop(code: number): void {
  // Whoever asks for a second time does not want to wait.
  if (isStopping) process.exit(1)
  isStopping = true
  // Baileys leaves timers of up to 30 s behind (of its pre-key upload, of its initial sync): nobody waits for them.
  void worker.close().finally(() => process.exit(code))
}

for (const signal of signals) process.off(signal, leave).on(signal, () => stop(0))

// Baileys leaves rejections behind when a socket closes while it connects. One sender's must not end all.
process.on('unhandledRejection', (error) => logger.error({ err: error }, 'A rejection was not handled'))
process.on('uncaughtException', (error) => {
  logger.error({ err: error }, 'An exception was not caught')
  if (isOutOfResources(error)) stop(1)
})

/** This process will not recover, but another worker has what it lacks. */
function isOutOfResources(error: Error & { code?: unknown }): boolean {
  return ['EMFILE', 'ENFILE', 'ENOMEM', 'ERR_OUT_OF_MEMORY'].includes(String(error.code))
}
