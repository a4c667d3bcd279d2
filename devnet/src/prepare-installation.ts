import { bootstrapAdmin } from '@wagate/api/bootstrap-admin'
import { migrate } from '@wagate/db/migrate'
import { readAdminKey, writeAdminKey } from './data-folder.ts'

export type AdminKey = {
  /** Undefined when an ADMIN exists whose key is not kept here. */
  apiKey: string | undefined
  isNew: boolean
}

/** Brings the database to this version and makes the first ADMIN where there is none. */
export async function prepareInstallation(
  databaseUrl: string,
  shards: number,
  dataFolder: string,
): Promise<AdminKey> {
  await migrate(databaseUrl, { shards })
  const created = await bootstrapAdmin(databaseUrl, 'admin@example.com')
  if (!created) return { apiKey: readAdminKey(dataFolder), isNew: false }
  writeAdminKey(dataFolder, created.apiKey)
  return { apiKey: created.apiKey, isNew: true }
}
