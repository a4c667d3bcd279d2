import { type AuthenticationState, Curve, initAuthCreds, type KeyPair, type SignalDataTypeMap } from 'baileys'

/** Credentials of one companion, in memory. `snapshot` and `restore` reset its Signal sessions to an earlier state. */
export type MemoryAuth = AuthenticationState & {
  snapshot: () => Map<string, unknown>
  restore: (rows: Map<string, unknown>) => void
}

/** As many pre-keys as Baileys uploads when it is linked. To generate them takes most of the time of a link. */
const preKeysOfLink = 812
let generated: KeyPair[] | undefined

/** All companions of a process begin with the same pre-keys, which are not uploaded yet. */
export function memoryAuth(): MemoryAuth {
  generated ??= Array.from({ length: preKeysOfLink }, () => Curve.generateKeyPair())
  let rows = new Map<string, unknown>(generated.map((pair, index) => [`pre-key ${index + 1}`, pair]))
  return {
    creds: { ...initAuthCreds(), nextPreKeyId: preKeysOfLink + 1 },
    keys: {
      get: async <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) => {
        const found: { [id: string]: SignalDataTypeMap[T] } = {}
        for (const id of ids) {
          const value = rows.get(`${type} ${id}`)
          if (value) found[id] = structuredClone(value) as SignalDataTypeMap[T]
        }
        return reviveBuffers(found)
      },
      set: async (data) => {
        for (const [type, values] of Object.entries(data)) {
          for (const [id, value] of Object.entries(values ?? {})) {
            if (value === null) rows.delete(`${type} ${id}`)
            else rows.set(`${type} ${id}`, structuredClone(value))
          }
        }
      },
    },
    snapshot: () => structuredClone(rows),
    restore: (earlier) => {
      rows = structuredClone(earlier)
    },
  }
}

// structuredClone turns a Buffer into a Uint8Array, which libsignal refuses.
function reviveBuffers<T>(value: T): T {
  if (value instanceof Uint8Array) return Buffer.from(value) as T
  if (Array.isArray(value)) return value.map(reviveBuffers) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, reviveBuffers(inner)])) as T
}
