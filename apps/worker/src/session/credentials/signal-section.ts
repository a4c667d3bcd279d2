import { makeOneAtATime } from '@wagate/runtime/one-at-a-time'
import {
  DEFAULT_CONNECTION_CONFIG,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
  type SignalKeyStoreWithTransaction,
  type UserFacingSocketConfig,
} from 'baileys'
import { boundMappingCache } from './lid-mappings.ts'
import type { Persist } from './persistence.ts'
import { makeSignalSteps, type Writes } from './signal-steps.ts'

type MakeRepository = NonNullable<UserFacingSocketConfig['makeSignalRepository']>
type Repository = ReturnType<MakeRepository>
type Hooks = {
  persist: Persist
  /** Called with every message that was decrypted. Resolves when it is stored. */
  storePlaintext(ciphertext: Uint8Array, plaintext: Uint8Array): Promise<void>
}

const noHooks: Hooks = { persist: async (work) => work(), storePlaintext: async () => undefined }

export type SignalSection = {
  /** The key store for everything else in Baileys (transactions.ts). */
  keys: SignalKeyStore
  makeRepository: MakeRepository
}

/** Of a group or a broadcast list. */
const groupId = /^[\d-]{1,60}@(g\.us|broadcast)$/

/**
 * Baileys' own transactions are keyed by chat, so a send and a decryption of one session can overlap and lose a ratchet
 * step, and they commit after the stanza has left. Here every Signal operation of a device runs alone, in order of arrival,
 * and its writes are stored before its result (the ciphertext) is returned: a crash can only skip a message key. The next
 * operation does not wait for the store: it sees the writes of the operations before it, and is stored together with them.
 *
 * A decrypted message is stored before the step that decrypted it, and nothing that builds on this step is stored
 * earlier: after a crash in between, the message is delivered and decrypted again. In the other order it would be lost,
 * because no key decrypts it twice.
 *
 * The operation in progress is a variable, not an async context: libsignal runs the jobs of all senders to one recipient
 * in the context of the first one.
 */
export function makeSignalSection(
  keys: SignalKeyStore,
  { persist, storePlaintext }: Hooks = noHooks,
): SignalSection {
  const inTurn = makeOneAtATime()
  const steps = makeSignalSteps(keys, persist)
  /** Writes of the operation in progress. */
  let current: Writes | undefined

  async function operate<Result>(
    work: () => Promise<Result>,
    storeResult?: (result: Result) => Promise<void>,
  ): Promise<Result> {
    const { result, step } = await inTurn(async () => {
      const step = steps.begin()
      current = step.writes
      try {
        const result = await work()
        steps.end(step)
        return { result, step }
      } finally {
        current = undefined
      }
    })
    const first = storeResult && (() => storeResult(result))
    if (step.writes.size > 0 || first) await steps.store({ ...step, first })
    return result
  }

  const signalKeys: SignalKeyStoreWithTransaction = {
    isInTransaction: () => current !== undefined,

    async get<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
      const written: { [id: string]: SignalDataTypeMap[Type] } = Object.create(null)
      const others = ids.filter((id) => {
        const write = current?.get(keyOf(type, id)) ?? steps.find(keyOf(type, id))
        if (write && write.value !== null) written[id] = write.value as SignalDataTypeMap[Type]
        return !write
      })
      if (others.length === 0) return written
      return Object.assign(written, await persist(() => keys.get(type, others)))
    },

    async set(data) {
      // Baileys also notes addresses beside the operation in progress, and must not lose them if that one fails.
      if (!current || 'lid-mapping' in data) return persist(() => keys.set(data))
      for (const [key, write] of toWrites(data)) current.set(key, write)
    },

    transaction: (work) => work(),
  }

  return {
    keys: {
      get: keys.get,
      // Baileys deletes sessions on its own when a recipient asks for a retry.
      set(data) {
        if ('session' in data) return operate(async () => signalKeys.set(data))
        // WhatsApp gives a privacy token once, and Baileys acknowledges it even if it could not be stored.
        return 'tctoken' in data ? persist(() => keys.set(data)) : keys.set(data)
      },
    },
    makeRepository({ creds }, logger, findLids) {
      const stock = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
        { creds, keys: signalKeys },
        logger,
        findLids,
      )
      boundMappingCache(stock.lidMapping)
      return {
        ...stock,
        ...serialized(stock, operate),
        decryptMessage: (given) =>
          operate(
            () => stock.decryptMessage(given),
            (plaintext) => storePlaintext(given.ciphertext, plaintext),
          ),
      }
    },
  }
}

/** The operations that change a session. Those that only read one run beside them. */
function serialized(
  stock: Repository,
  operate: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Partial<Repository> {
  return {
    encryptMessage: (given) => operate(() => stock.encryptMessage(given)),
    injectE2ESession: (given) => operate(() => stock.injectE2ESession(given)),
    deleteSession: (jids) => operate(() => stock.deleteSession(jids)),
    async migrateSession(from, to) {
      // The repository remembers every migration, without a limit, also one that could not be stored. Emptying its memory has
      // no other effect.
      const forget = () => stock.close?.()
      const result = await operate(() => stock.migrateSession(from, to)).catch((error) => {
        forget()
        throw error
      })
      if (result.migrated > 0) forget()
      return result
    },
    decryptGroupMessage: (given) => operate(() => stock.decryptGroupMessage(given)),
    encryptGroupMessage: (given) => operate(() => stock.encryptGroupMessage(given)),
    async processSenderKeyDistributionMessage(given) {
      // A contact chooses this text, and it becomes a part of the id of a stored key.
      if (!groupId.test(given.item.groupId ?? '')) throw new Error('The sender key is for no group')
      await operate(() => stock.processSenderKeyDistributionMessage(given))
    },
  }
}

function keyOf(type: string, id: string): string {
  return `${type}|${id}`
}

function toWrites(data: SignalDataSet): Writes {
  return new Map(
    Object.entries(data).flatMap(([type, values]) =>
      Object.entries(values ?? {}).map(
        ([id, value]) => [keyOf(type, id), { type, id, value: value ?? null }] as const,
      ),
    ),
  )
}
