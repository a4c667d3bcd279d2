import { bootstrapAdmin } from './bootstrap-admin.ts'
import { readConfig } from './config.ts'
import { startApi } from './start.ts'

const config = readConfig(process.env)
const api = await startApi(config)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void api.close())

if (config.BOOTSTRAP_ADMIN_EMAIL) {
  const admin = await bootstrapAdmin(config.DATABASE_URL, config.BOOTSTRAP_ADMIN_EMAIL)
  if (admin) process.stdout.write(`API key of the first ADMIN, shown only now: ${admin.apiKey}\n`)
}
