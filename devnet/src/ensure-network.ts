import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeDatabase, openDatabase } from '@wagate/db/client'
import { listLinkedJids } from '@wagate/db/queries/devices/devices'
import { claimNetwork, readNetwork, setNetwork } from '@wagate/db/queries/statements/installation'

type Network = 'simulator' | 'live'
type Installation = { databaseUrl: string; network: Network; dataFolder: string }

/** Records the network of the database. Throws if its senders are linked on the other one: a start would end their links. */
export async function ensureNetwork({ databaseUrl, network, dataFolder }: Installation): Promise<void> {
  const db = openDatabase(databaseUrl, {
    poolSize: 1,
    applicationName: 'wagate-start',
    statementTimeoutMs: 10_000,
  })
  try {
    const sql = db.$client
    if (network === 'simulator' && (await readNetwork(sql)) === null) {
      // From a version that did not record its network.
      const jids = await listLinkedJids(db)
      if (jids.every((jid) => isKnownToSimulator(dataFolder, jid))) await setNetwork(sql, 'simulator')
      else throw new Error(describeRefusal('live'))
    }
    await claimNetwork(sql, network)
    const found = await readNetwork(sql)
    if (found && found !== network) throw new Error(describeRefusal(found))
  } finally {
    await closeDatabase(db)
  }
}

function describeRefusal(found: Network): string {
  const [theirs, command] =
    found === 'live'
      ? ['the real WhatsApp network', 'npm start -- --live']
      : ['the simulated network', 'npm start']
  return (
    `The senders of this database are linked on ${theirs}, and a start on the other network would end their links. ` +
    `Start it with "${command}" (and the same --data), or use another database: another folder with --data, ` +
    'or another DATABASE_URL.'
  )
}

/** `jid` is of one linked device: `15550100001:1@s.whatsapp.net`. */
function isKnownToSimulator(dataFolder: string, jid: string): boolean {
  const [, number, id] = /^(\d+):(\d+)@/.exec(jid) ?? []
  const file = join(dataFolder, 'simulator/phones', `${number}.phone.json`)
  if (!existsSync(file)) return false
  const { devices }: { devices: { id: number }[] } = JSON.parse(readFileSync(file, 'utf8'))
  return devices.some((device) => device.id === Number(id))
}
