import type { Database } from '@wagate/db/client'
import {
  deleteMasterKeys,
  isEncryptedBy,
  listUsedMasterKeys,
  recordMasterKey,
} from '@wagate/db/queries/credentials/master-keys'
import type { MasterKeys } from '../config/master-keys.ts'
import { proxyBoxKey } from '../session/network/proxy-box.ts'

/** Throws when values are encrypted with master keys that are not configured here, and names those keys. */
export async function checkMasterKeys(db: Database, { current, all }: MasterKeys): Promise<void> {
  const unknown = (await listUsedMasterKeys(db)).filter((id) => !all.has(id))
  if (unknown.length > 0) {
    if (await isEncryptedBy(db, unknown)) {
      throw new Error(
        `WhatsApp credentials in this database are encrypted with the master key ${unknown.join(' and ')}. ` +
          `MASTER_KEY is ${current.id}, and MASTER_KEYS_OTHER does not have it either.`,
      )
    }
    await deleteMasterKeys(db, { except: [...all.keys()] })
  }
  await recordMasterKey(db, current.id, proxyBoxKey(current).publicKey)
}
