import { collectAtRest } from '@wagate/runtime/collect-at-rest'
import { makeLogger } from '@wagate/runtime/logger'
import { configurationOrExit } from '@wagate/runtime/run-command'
import { readConfig } from './config.ts'
import { bootstrapAdmin, deliverKey } from './credentials/bootstrap-admin.ts'
import { startApi } from './start.ts'

const config = configurationOrExit(() => readConfig(process.env))
const signals = ['SIGTERM', 'SIGINT'] as const
/** During start-up no request is in progress, so the process may end at once. */
const exitAtOnce = () => process.exit(0)
for (const signal of signals) process.on(signal, exitAtOnce)
const api = await startApi(config)
collectAtRest()
for (const signal of signals) process.off(signal, exitAtOnce).once(signal, () => void api.close())

// Node would print these errors with all their properties, which may contain secrets.
const log = makeLogger('api', config.logLevel)
process.on('unhandledRejection', (error) => log.error({ err: error }, 'Unhandled rejection'))
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'Uncaught exception')
  void api.close().finally(() => process.exit(1))
})

const { adminEmail, keyFile } = config.bootstrap
if (adminEmail) {
  await bootstrapAdmin(config.databaseUrl, adminEmail, (apiKey) => deliverKey(apiKey, keyFile)).catch(
    (error: unknown) => log.error({ err: error }, 'Could not create the first ADMIN'),
  )
}
