// Makes the roles of the database, or brings them to these passwords again. For images, after a build. DATABASE_URL is a
// superuser's; the migration has to run afterwards, as the role <database>_migrate.
import { loadEnvFile } from './env-file.mjs'
import { loadCompiled } from './load-compiled.mjs'

const { ConfigurationError, readEnv } = await loadCompiled('runtime/dist/env')
const { runCommand } = await loadCompiled('runtime/dist/run-command')
const { pickSettings } = await loadCompiled('shared/dist/settings')
const { createRoles } = await loadCompiled('db/dist/roles')

loadEnvFile()
await runCommand('Usage: node scripts/roles.mjs', async () => {
  const { DATABASE_URL } = readEnv(pickSettings('DATABASE_URL'), process.env)
  const password = (/** @type {string} */ role) => {
    const name = `POSTGRES_${role}_PASSWORD`
    const value = process.env[name]
    if (!value) throw new ConfigurationError(`The configuration is not usable:\n  ${name}: is required`)
    return value
  }
  const names = await createRoles(DATABASE_URL, {
    migrate: password('MIGRATE'),
    api: password('API'),
    worker: password('WORKER'),
  })
  console.log(`The roles are ready: ${Object.values(names).join(', ')}.`)
  return 0
})
