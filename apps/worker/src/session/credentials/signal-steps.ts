import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { makeOneAtATime } from '@wagate/runtime/one-at-a-time'
import type { SignalDataSet, SignalKeyStore, WASocket } from 'baileys'
import type { Persist } from './persistence.ts'

type Write = { type: string; id: string; value: unknown }
/** Keyed by type and id, so that the last write counts. */
export type Writes = Map<string, Write>

/** What one Signal operation writes. */
type Step = {
  writes: Writes
  /** How many batches of steps had failed when it began. */
  failuresBefore: number
}
/** `first` stores the values that must be stored before the writes. */
type StoredStep = Step & { first: (() => Promise<void>) | undefined }

export type SignalSteps = {
  begin(): Step
  /** The next steps see its writes. */
  end(step: Step): void
  /** A write of a step that is being stored. */
  find(key: string): Write | undefined
  /** Stores it together with those that end meanwhile. */
  store(step: StoredStep): Promise<void>
}

const stepsAtOnceMax = 100

/**
 * The steps of a device's Signal sessions until they are stored, in their order. A step may build on those before it, so
 * when one cannot be stored, none that had begun by then is stored.
 */
export function makeSignalSteps(keys: Pick<SignalKeyStore, 'set'>, persist: Persist): SignalSteps {
  const unstored: Writes = new Map()
  let failures = 0
  const isSound = ({ failuresBefore }: Step) => failuresBefore === failures

  const batch = makeNaturalBatch<StoredStep, 'stored' | 'refused'>(
    async (steps) => {
      const results = steps.map((step) => (isSound(step) ? 'stored' : 'refused'))
      const sound = steps.filter(isSound)
      const merged: Writes = new Map(sound.flatMap(({ writes }) => [...writes]))
      try {
        await Promise.all(sound.map(({ first }) => first?.()))
        if (merged.size > 0) await persist(() => keys.set(toDataSet(merged)))
      } catch (error) {
        failures++
        unstored.clear()
        throw error
      }
      // A later step may have written the same row again.
      for (const [key, write] of merged) if (unstored.get(key) === write) unstored.delete(key)
      return results
    },
    { itemsMax: stepsAtOnceMax },
  )

  return {
    begin: () => ({ writes: new Map(), failuresBefore: failures }),
    end(step) {
      if (isSound(step)) for (const [key, write] of step.writes) unstored.set(key, write)
    },
    find: (key) => unstored.get(key),
    async store(step) {
      if ((await batch.add(step)) === 'refused') throw new Error('An earlier Signal step could not be stored')
    },
  }
}

/** The cast is safe: a value is returned under the type that it was stored under. */
function toDataSet(writes: Writes): SignalDataSet {
  const data: { [type: string]: { [id: string]: unknown } } = {}
  for (const { type, id, value } of writes.values()) {
    data[type] ??= Object.create(null) as { [id: string]: unknown }
    data[type][id] = value
  }
  return data as SignalDataSet
}

type Work<Result> = () => Promise<Result>

/**
 * Replaces Baileys' transactions, which collect writes in an async context until the stanza has left. On Node < 24, that
 * slows down every `await` in the process. Here writes are stored at once, and transactions still run one at a time.
 *
 * A nested transaction would deadlock. Baileys has these in its Signal repository, which needs a separate key store
 * (signal-section.ts), and in `appPatch`, for changes of chats and contacts, which the worker never calls.
 */
export function replaceTransactions(
  sock: WASocket,
  keys: SignalKeyStore,
  begin: <Result>(work: Work<Result>) => Work<Result> = (work) => work,
): void {
  const oneAtATime = makeOneAtATime()
  Object.assign(sock.authState.keys, {
    get: keys.get,
    set: keys.set,
    isInTransaction: () => false,
    transaction: <Result>(work: Work<Result>) => oneAtATime(begin(work)),
  })
}
