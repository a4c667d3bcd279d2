// Brings the database of DATABASE_URL to this version. For images, after a build.
import { loadEnvFile } from './env-file.mjs'
import { loadCompiled } from './load-compiled.mjs'

const { readEnv } = await loadCompiled('runtime/dist/env')
const { runCommand } = await loadCompiled('runtime/dist/run-command')
const { pickSettings } = await loadCompiled('shared/dist/settings')
const { migrate } = await loadCompiled('db/dist/migrate')

loadEnvFile()
await runCommand('Usage: node scripts/migrate.mjs', async () => {
  const config = readEnv(
    pickSettings('DATABASE_URL', 'SHARDS', 'WHATSAPP_NETWORK', 'RETENTION_DAYS'),
    process.env,
  )
  await migrate(config.DATABASE_URL, {
    shards: config.SHARDS,
    network: config.WHATSAPP_NETWORK,
    retentionDays: config.RETENTION_DAYS,
  })
  console.log('The database is up to date.')
  return 0
})
