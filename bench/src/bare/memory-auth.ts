import {
  type AuthenticationState,
  initAuthCreds,
  makeCacheableSignalKeyStore,
  type SignalDataTypeMap,
} from 'baileys'
import { silent } from './silent.ts'

/** The cheapest possible store: it serializes and keeps nothing. */
export function makeMemoryAuth(): AuthenticationState {
  const values = new Map<string, unknown>()
  const keys = makeCacheableSignalKeyStore(
    {
      async get<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
        const found: { [id: string]: SignalDataTypeMap[Type] } = {}
        for (const id of ids) {
          const value = values.get(`${type} ${id}`)
          if (value != null) found[id] = value as SignalDataTypeMap[Type]
        }
        return found
      },
      async set(data) {
        for (const [type, entries] of Object.entries(data)) {
          for (const [id, value] of Object.entries(entries ?? {})) values.set(`${type} ${id}`, value)
        }
      },
    },
    silent,
  )
  return { creds: initAuthCreds(), keys }
}
