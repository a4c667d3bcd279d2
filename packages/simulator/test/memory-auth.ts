import { type AuthenticationState, initAuthCreds, type SignalDataTypeMap } from 'baileys'

/** Credentials of one companion, in memory. `snapshot` and `restore` reset its Signal sessions to an earlier state. */
export type MemoryAuth = AuthenticationState & {
  snapshot: () => Map<string, unknown>
  restore: (rows: Map<string, unknown>) => void
}

export function memoryAuth(): MemoryAuth {
  let rows = new Map<string, unknown>()
  return {
    creds: initAuthCreds(),
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
