// Makes the roles of the database, or brings them to these passwords again. For images, after a build. DATABASE_URL is a
// superuser's; the migration has to run afterwards, as the role <database>_migrate.
const load = (/** @type {string} */ path) => import(new URL(`../packages/${path}.js`, import.meta.url).href)
const { readEnv } = await load('runtime/dist/env')
const { pickSettings } = await load('shared/dist/settings')
const { createRoles } = await load('db/dist/roles')

const { DATABASE_URL } = readEnv(pickSettings('DATABASE_URL'), process.env)
const password = (/** @type {string} */ role) => {
  const name = `POSTGRES_${role}_PASSWORD`
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set.`)
  return value
}
const names = await createRoles(DATABASE_URL, {
  migrate: password('MIGRATE'),
  api: password('API'),
  worker: password('WORKER'),
})
console.log(`The roles are ready: ${Object.values(names).join(', ')}.`)
