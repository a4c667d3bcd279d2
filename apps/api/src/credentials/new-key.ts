import type { NewAccount } from '@wagate/db/queries/accounts'
import { hashApiKey, makeApiKey } from '@wagate/shared/api-key'

/** `apiKey` is shown once, `key` is what is stored. */
export function makeNewKey(name = 'default'): { apiKey: string; key: NewAccount['key'] } {
  const apiKey = makeApiKey()
  return { apiKey, key: { name, hash: hashApiKey(apiKey), lastFour: apiKey.slice(-4) } }
}
