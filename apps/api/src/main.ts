import { makeLogger } from '@wagate/runtime/logger'
import { readConfig } from './config.ts'
import { bootstrapAdmin } from './credentials/bootstrap-admin.ts'
import { handKey } from './credentials/deliver-key.ts'
import { startApi } from './start.ts'

const config = readConfig(process.env)
const signals = ['SIGTERM', 'SIGINT'] as const
/** Until it has started, nothing has to be finished. */
const leave = () => process.exit(0)
for (const signal of signals) process.on(signal, leave)
const api = await startApi(config)
for (const signal of signals) process.off(signal, leave).once(signal, () => void api.close())

// Node would print them as they are, with whatever an error carries.
const log = makeLogger('api', config.LOG_LEVEL)
process.on('unhandledRejection', (error) => log.error({ err: error }, 'A rejection was not handled'))
process.on('uncaughtException', (error) => {
  log.fatal({ err: error }, 'An exception was not caught')
  void api.close().finally(() => process.exit(1))
})

if (config.BOOTSTRAP_ADMIN_EMAIL) {
  await bootstrapAdmin(config.DATABASE_URL, config.BOOTSTRAP_ADMIN_EMAIL, (apiKey) =>
    handKey(apiKey, config.BOOTSTRAP_KEY_FILE),
  ).catch((error: unknown) => log.error({ err: error }, 'The first ADMIN was not created'))
}
