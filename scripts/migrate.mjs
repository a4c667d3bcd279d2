// Brings the database of DATABASE_URL to this version. For images, after a build.
const { migrate } = await import(new URL('../packages/db/dist/migrate.js', import.meta.url).href)

const { DATABASE_URL, SHARDS = '256', RETENTION_DAYS = '365' } = process.env
if (!DATABASE_URL) throw new Error('DATABASE_URL is not set.')
await migrate(DATABASE_URL, { shards: Number(SHARDS), retentionDays: Number(RETENTION_DAYS) })
console.log('The database is up to date.')
