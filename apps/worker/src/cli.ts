import { parseArgs } from 'node:util'
import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import type { SignalFormat } from '@wagate/db/queries/credentials/signal-format'
import { setNetwork, setShards } from '@wagate/db/queries/statements/installation'
import { readEnv } from '@wagate/runtime/env'
import { runCommand } from '@wagate/runtime/run-command'
import { helpInsteadOf } from '@wagate/shared/operator-commands'
import { settings } from '@wagate/shared/settings'
import type { WhatsAppNetwork } from '@wagate/shared/whatsapp-network'
import { readMasterKeys } from './config/master-keys.ts'
import { changeSignalFormat } from './stored-keys/change-signal-format.ts'
import { rotateMasterKeys } from './stored-keys/rotate-master-keys.ts'
import { runHousekeeping } from './upkeep/run-housekeeping.ts'
import { runDispatcher } from './webhooks/run-dispatcher.ts'

const usage = `Usage: wagate keys rotate
       wagate shards set <number>
       wagate network set live|simulator
       wagate signal-format set 1|2
       wagate housekeeping
       wagate dispatcher

keys rotate
Re-encrypts with MASTER_KEY the values that one of MASTER_KEYS_OTHER has encrypted, in the database of DATABASE_URL, while
workers run. You can interrupt and repeat it. See docs/security.md for the steps around it.

shards set
Changes the number of shards of the installation in the database of DATABASE_URL, 4096 at most. Stop all worker and API
processes first, then restart them with the new SHARDS.

network set
Records which WhatsApp network the senders in the database of DATABASE_URL are linked on. Workers end the links of another
network when they start, so use it only when you are sure about the network.

signal-format set
Changes the format in which workers store Signal sessions. Set 2 when no earlier version runs any more, and set 1 before you
go back to one. Needs the master keys. See docs/operations.md.

housekeeping
Creates and drops partitions and deletes expired rows until it is stopped. For installations whose workers run with
HOUSEKEEPING=false because their database role does not own the tables. Serves /health/ready on METRICS_PORT.

dispatcher
Delivers webhooks until it is stopped, beside others and beside workers. It needs DATABASE_URL, REDIS_URL, the master keys,
SHARDS, WHATSAPP_NETWORK, PUBLIC_URL and ALLOW_PRIVATE_WEBHOOK_HOSTS as the workers have them. For installations whose
workers run with WEBHOOK_DISPATCH=false.`

const { DATABASE_URL, MASTER_KEY, MASTER_KEYS_OTHER, SHARDS, WHATSAPP_NETWORK } = settings
const sayEveryMs = 2000
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

await runCommand(usage, () => run(process.argv.slice(2)))

async function run(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  })
  const [subject, verb, value] = positionals
  const shards = SHARDS.safeParse(value)
  const network = WHATSAPP_NETWORK.safeParse(value)
  const help = helpInsteadOf('worker', subject)
  if (!values.help && !help) {
    if (positionals.join(' ') === 'keys rotate') return rotateKeys()
    if (positionals.join(' ') === 'housekeeping') return runHousekeeping(process.env, stopping.signal)
    if (positionals.join(' ') === 'dispatcher') return runDispatcher(process.env, stopping.signal)
    if (subject === 'shards' && verb === 'set' && value && shards.success) return changeShards(shards.data)
    if (subject === 'network' && verb === 'set' && value && network.success)
      return changeNetwork(network.data)
    if (subject === 'signal-format' && verb === 'set' && (value === '1' || value === '2'))
      return changeFormat(value === '1' ? 1 : 2)
  }
  console.error(help ?? usage)
  return values.help ? 0 : 2
}

async function rotateKeys(): Promise<number> {
  const config = readEnv({ DATABASE_URL, MASTER_KEY, MASTER_KEYS_OTHER }, process.env)
  return withDatabase(config.DATABASE_URL, async (db) => {
    try {
      return await rotate(db, readMasterKeys(config.MASTER_KEY, config.MASTER_KEYS_OTHER))
    } catch (error) {
      if (!stopping.signal.aborted) throw error
      console.error('Stopped. What was done stays done; run it again for the rest.')
      return 1
    }
  })
}

async function changeShards(shards: number): Promise<number> {
  return withDatabase(readEnv({ DATABASE_URL }, process.env).DATABASE_URL, async (db) => {
    const alive = await setShards(db, shards)
    if (alive.length === 0) {
      console.log(`The installation has ${shards} shards. Start every process with SHARDS=${shards}.`)
      return 0
    }
    console.error(`Nothing was changed. Stop these workers first: ${alive.join(', ')}`)
    return 1
  })
}

async function changeNetwork(network: WhatsAppNetwork): Promise<number> {
  return withDatabase(readEnv({ DATABASE_URL }, process.env).DATABASE_URL, async (db) => {
    await setNetwork(db.$client, network)
    console.log(`The network is "${network}". Start every process with WHATSAPP_NETWORK=${network}.`)
    return 0
  })
}

async function changeFormat(format: SignalFormat): Promise<number> {
  const config = readEnv({ DATABASE_URL, MASTER_KEY, MASTER_KEYS_OTHER }, process.env)
  const masterKeys = readMasterKeys(config.MASTER_KEY, config.MASTER_KEYS_OTHER)
  return withDatabase(config.DATABASE_URL, async (db) => {
    const { lines, isComplete } = await changeSignalFormat(db, format, masterKeys, stopping.signal)
    for (const line of lines) console.log(line)
    return isComplete ? 0 : 1
  })
}

async function withDatabase<Result>(url: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = openDatabase(url, { poolSize: 1, applicationName: 'wagate-cli', statementTimeoutMs: 30_000 })
  try {
    return await work(db)
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
      console.log(`${progress.scanned} rows scanned, ${progress.replaced} values re-encrypted`)
    },
  })
  console.log(`${replaced} values re-encrypted.`)
  for (const [why, count] of unreadable) console.error(`${count} values could not be opened. ${why}.`)
  for (const { name, masterKeyId } of others) {
    console.error(
      `The worker ${name} still encrypts with ${masterKeyId}: start it again with the new MASTER_KEY.`,
    )
  }
  if (isComplete) {
    console.log('Everything is encrypted with the current master key. The other keys are no longer needed.')
    return 0
  }
  console.error(
    'Some values are not encrypted with the current master key: keep the other keys and run this command again.',
  )
  return 1
}
