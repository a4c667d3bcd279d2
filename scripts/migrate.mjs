// Brings the database of DATABASE_URL to this version. For images, after a build.
const load = (/** @type {string} */ path) => import(new URL(`../packages/${path}.js`, import.meta.url).href)
const { readEnv } = await load('runtime/dist/env')
const { pickSettings } = await load('shared/dist/settings')
const { migrate } = await load('db/dist/migrate')

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
