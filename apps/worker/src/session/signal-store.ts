import { AsyncLocalStorage } from 'node:async_hooks'
import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore, SignalKeyStoreWithTransaction } from 'baileys'

type Writes = { [type: string]: { [id: string]: unknown } }
type Transaction = { store: object; writes: Writes }

/** One for all sockets: on Node < 24 every promise pays for each instance that is in use. */
const transactions = new AsyncLocalStorage<Transaction>()

/**
 * The key store under a device's Signal sessions. Baileys' own transactions are keyed by chat, so a send
 * and a decryption of the same session overlap and lose a ratchet step, and it commits after the stanza
 * left. Here every Signal operation of a device runs in one first-in-first-out section, and its writes are
 * stored before its result (the ciphertext) is handed out: a crash can only skip a message key.
 */
export function makeSignalStore(keys: SignalKeyStore): SignalKeyStoreWithTransaction {
  let last: Promise<unknown> = Promise.resolve()

  function inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  const current = () => {
    const transaction = transactions.getStore()
    return transaction?.store === store ? transaction : undefined
  }

  const store: SignalKeyStoreWithTransaction = {
    isInTransaction: () => current() !== undefined,

    async get<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
      const written = current()?.writes[type]
      if (!written) return keys.get(type, ids)
      const found = {
        ...(await keys.get(
          type,
          ids.filter((id) => !(id in written)),
        )),
      }
      for (const id of ids) {
        if (written[id] != null) found[id] = written[id] as SignalDataTypeMap[Type]
      }
      return found
    },

    async set(data: SignalDataSet) {
      const transaction = current()
      if (!transaction) return inOrder(async () => keys.set(data))
      for (const [type, values] of Object.entries(data)) {
        transaction.writes[type] = { ...transaction.writes[type], ...values }
      }
    },

    transaction(work) {
      if (current()) return work()
      return inOrder(async () => {
        const transaction: Transaction = { store, writes: {} }
        const result = await transactions.run(transaction, work)
        if (Object.keys(transaction.writes).length > 0) await keys.set(transaction.writes as SignalDataSet)
        return result
      })
    },
  }
  return store
}
