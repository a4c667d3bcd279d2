import { parseArgs } from 'node:util'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { readEnv } from '@wagate/shared/env'
import { settings } from '@wagate/shared/settings'
import { rotateMasterKeys } from './rotate-master-keys.ts'
import { readMasterKeys } from './session/master-keys.ts'

const usage = `Usage: wagate keys rotate

Encrypts with MASTER_KEY what one of MASTER_KEYS_OTHER has encrypted, in the database of DATABASE_URL, while workers run.
It may be interrupted and repeated. See docs/security.md for the steps around it.`

const { DATABASE_URL, MASTER_KEY, MASTER_KEYS_OTHER } = settings
const sayEveryMs = 2000
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

process.exitCode = await run(process.argv.slice(2))

async function run(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  })
  if (values.help || positionals.join(' ') !== 'keys rotate') {
    console.error(usage)
    return values.help ? 0 : 2
  }
  const config = readEnv({ DATABASE_URL, MASTER_KEY, MASTER_KEYS_OTHER }, process.env)
  const db = openDatabase(config.DATABASE_URL, {
    poolSize: 1,
    applicationName: 'wagate-keys',
    statementTimeoutMs: 30_000,
  })
  try {
    return await rotate(db, readMasterKeys(config))
  } catch (error) {
    if (!stopping.signal.aborted) throw error
    console.error('Stopped. What was done stays done; run it again for the rest.')
    return 1
  } finally {
    await closeDatabase(db)
  }
}

async function rotate(
  db: Parameters<typeof rotateMasterKeys>[0],
  masterKeys: Parameters<typeof rotateMasterKeys>[1],
): Promise<number> {
  let saidAtMs = performance.now()
  console.log(`The current master key is ${masterKeys.current.id}.`)
  const { replaced, unreadable, others, isComplete } = await rotateMasterKeys(db, masterKeys, {
    signal: stopping.signal,
    onProgress(progress) {
      if (performance.now() - saidAtMs < sayEveryMs) return
      saidAtMs = performance.now()
      console.log(`${progress.looked} rows looked at, ${progress.replaced} values encrypted anew`)
    },
  })
  console.log(`${replaced} values were encrypted anew.`)
  for (const [why, count] of unreadable) console.error(`${count} values could not be opened. ${why}.`)
  for (const { name, masterKeyId } of others) {
    console.error(
      `The worker ${name} still encrypts with ${masterKeyId}: start it again with the new MASTER_KEY.`,
    )
  }
  if (isComplete) {
    console.log(
      'Everything is encrypted with the current master key. The other keys are not needed any more.',
    )
    return 0
  }
  console.error(
    'Not everything is encrypted with the current master key: keep the other keys, and run it again.',
  )
  return 1
}
