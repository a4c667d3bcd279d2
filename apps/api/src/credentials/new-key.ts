import type { NewKey } from '@wagate/db/queries/accounts/api-keys'
import { hashApiKey, makeApiKey } from './api-key.ts'

/** `apiKey` is returned to the caller once, `key` is stored. */
export function makeNewKey(name = 'default', expiresAt: Date | null = null): { apiKey: string; key: NewKey } {
  const apiKey = makeApiKey()
  return { apiKey, key: { name, hash: hashApiKey(apiKey), lastFour: apiKey.slice(-4), expiresAt } }
}
