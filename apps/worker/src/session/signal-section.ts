import {
  DEFAULT_CONNECTION_CONFIG,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
  type SignalKeyStoreWithTransaction,
  type UserFacingSocketConfig,
} from 'baileys'

type MakeRepository = NonNullable<UserFacingSocketConfig['makeSignalRepository']>
type Repository = ReturnType<MakeRepository>
type Writes = { [type: string]: { [id: string]: unknown } }

export type SignalSection = {
  /** For Baileys itself, which wraps them once more. */
  keys: SignalKeyStore
  makeRepository: MakeRepository
}

/**
 * Baileys' own transactions are keyed by chat, so a send and a decryption of one session overlap and lose a
 * ratchet step, and they commit after the stanza has left. Here every Signal operation of a device runs
 * alone, first come first served, and what it wrote is stored before its result (the ciphertext) is handed
 * out: a crash can only skip a message key.
 *
 * The operation in progress is a variable and no async context: libsignal runs the jobs of all senders to
 * one recipient in the context of whoever came first.
 */
export function makeSignalSection(keys: SignalKeyStore): SignalSection {
  let last: Promise<unknown> = Promise.resolve()
  /** What the operation in progress has written and not stored yet. */
  let writes: Writes | undefined

  function inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  function operate<Result>(work: () => Promise<Result>): Promise<Result> {
    return inOrder(async () => {
      const written: Writes = {}
      writes = written
      try {
        const result = await work()
        writes = undefined
        if (Object.keys(written).length > 0) await keys.set(written as SignalDataSet)
        return result
      } finally {
        writes = undefined
      }
    })
  }

  const signalKeys: SignalKeyStoreWithTransaction = {
    isInTransaction: () => writes !== undefined,

    async get<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
      const written = writes?.[type]
      if (!written) return keys.get(type, ids)
      const unwritten = ids.filter((id) => !(id in written))
      const found = unwritten.length > 0 ? { ...(await keys.get(type, unwritten)) } : {}
      for (const id of ids) {
        if (written[id] != null) found[id] = written[id] as SignalDataTypeMap[Type]
      }
      return found
    },

    async set(data) {
      if (!writes) return keys.set(data)
      for (const [type, values] of Object.entries(data)) writes[type] = { ...writes[type], ...values }
    },

    transaction: (work) => work(),
  }

  return {
    keys: {
      get: keys.get,
      // Baileys deletes sessions by itself when a recipient asks for a retry.
      set: (data) => ('session' in data ? inOrder(async () => keys.set(data)) : keys.set(data)),
    },
    makeRepository({ creds }, logger, findLids) {
      const stock = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
        { creds, keys: signalKeys },
        logger,
        findLids,
      )
      return { ...stock, ...serialized(stock, operate) }
    },
  }
}

/** The operations that change a session. Those that only look at one go on beside them. */
function serialized(
  stock: Repository,
  operate: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Partial<Repository> {
  return {
    decryptMessage: (given) => operate(() => stock.decryptMessage(given)),
    encryptMessage: (given) => operate(() => stock.encryptMessage(given)),
    injectE2ESession: (given) => operate(() => stock.injectE2ESession(given)),
    deleteSession: (jids) => operate(() => stock.deleteSession(jids)),
    migrateSession: (from, to) => operate(() => stock.migrateSession(from, to)),
    decryptGroupMessage: (given) => operate(() => stock.decryptGroupMessage(given)),
    encryptGroupMessage: (given) => operate(() => stock.encryptGroupMessage(given)),
    processSenderKeyDistributionMessage: (given) =>
      operate(() => stock.processSenderKeyDistributionMessage(given)),
  }
}
