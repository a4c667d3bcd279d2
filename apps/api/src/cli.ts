import { parseArgs } from 'node:util'
import { readEnv } from '@wagate/runtime/env'
import { runCommand } from '@wagate/runtime/run-command'
import { helpInsteadOf } from '@wagate/shared/operator-commands'
import { settings } from '@wagate/shared/settings'
import { z } from 'zod'
import { createAdmin } from './credentials/bootstrap-admin.ts'

const usage = `Usage: wagate admin create --email <address>

Creates an ADMIN account in the database at DATABASE_URL and prints its API key, which is not shown again.`

await runCommand(usage, () => run(process.argv.slice(2)))

async function run(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { email: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  const help = helpInsteadOf('api', positionals[0])
  if (help) {
    console.error(help)
    return values.help ? 0 : 2
  }
  const email = z.email().safeParse(values.email?.trim())
  if (values.help || positionals.join(' ') !== 'admin create' || !email.success) {
    console.error(usage)
    return values.help ? 0 : 2
  }
  const { DATABASE_URL } = readEnv({ DATABASE_URL: settings.DATABASE_URL }, process.env)
  const admin = await createAdmin(DATABASE_URL, email.data)
  if (!admin) {
    console.error('An account with this email already exists.')
    return 1
  }
  console.log(admin.apiKey)
  return 0
}
