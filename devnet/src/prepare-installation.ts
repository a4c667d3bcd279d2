import { bootstrapAdmin } from '@wagate/api/credentials/bootstrap-admin'
import { migrate } from '@wagate/db/migrate'
import { readAdminKey, writeAdminKey } from './data-folder.ts'
import { ensureNetwork } from './ensure-network.ts'

export type AdminKey = {
  /** Undefined when an ADMIN exists whose key is not kept here. */
  apiKey: string | undefined
  isNew: boolean
}

type Installation = { databaseUrl: string; shards: number; network: 'simulator' | 'live'; dataFolder: string }

/** Brings the database to this version and makes the first ADMIN where there is none. */
export async function prepareInstallation(installation: Installation): Promise<AdminKey> {
  const { databaseUrl, shards, dataFolder } = installation
  await migrate(databaseUrl, { shards })
  await ensureNetwork(installation)
  const created = await bootstrapAdmin(databaseUrl, 'admin@example.com')
  if (!created) return { apiKey: readAdminKey(dataFolder), isNew: false }
  writeAdminKey(dataFolder, created.apiKey)
  return { apiKey: created.apiKey, isNew: true }
}
