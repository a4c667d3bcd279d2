import { isSameSubscriber } from '@wagate/shared/phone'
import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from 'baileys'
import type { LIDMappingStore } from 'baileys/lib/Signal/lid-mapping.js'
import { makeRecentMap } from '../../caches/recent-map.ts'

/** Baileys stores a pair under the number, and the other way round under the LID with this ending. */
const reverseEnd = '_reverse'
const reverseId = (lid: string) => `${lid}${reverseEnd}`

type Mapping = { [id: string]: string | null | undefined }
type KeyType = keyof SignalDataTypeMap

/** The pairs among the entries. */
export function numbersOf(mapping: Mapping): [number: string, lid: string][] {
  return Object.entries(mapping).flatMap(([id, lid]) => (lid && !id.endsWith(reverseEnd) ? [[id, lid]] : []))
}

/**
 * Baileys keeps the entry of a LID whose number was told for another LID, and that of a number whose LID has another one. Here
 * an entry of a LID is there only if that of its number agrees, and what a new pair replaces is deleted with it.
 */
export function keepAgreeingMappings(keys: SignalKeyStore): SignalKeyStore {
  async function replacedBy(mapping: Mapping): Promise<Mapping> {
    const pairs = numbersOf(mapping)
    if (pairs.length === 0) return {}
    const known: Mapping = await keys.get(
      'lid-mapping',
      pairs.flatMap(([number, lid]) => [number, reverseId(lid)]),
    )
    const replaced: Mapping = {}
    for (const [number, lid] of pairs) {
      const [formerLid, formerNumber] = [known[number], known[reverseId(lid)]]
      if (formerLid && formerLid !== lid) replaced[reverseId(formerLid)] = null
      if (formerNumber && !isSameSubscriber(formerNumber, number)) replaced[formerNumber] = null
    }
    return { ...replaced, ...mapping }
  }

  return {
    get<Type extends KeyType>(type: Type, ids: string[]) {
      const found = keys.get(type, ids)
      if (type !== 'lid-mapping' || !ids.some((id) => id.endsWith(reverseEnd))) return found
      return whenRead(found as Read<Mapping>, (mapping) => {
        const reverse = Object.entries(mapping).filter(([id, number]) => number && id.endsWith(reverseEnd))
        if (reverse.length === 0) return found
        const numbers = reverse.map(([, number]) => number as string)
        return whenRead(keys.get('lid-mapping', numbers) as Read<Mapping>, (forward) => {
          const agreeing = Object.entries(mapping).filter(
            ([id, number]) => !id.endsWith(reverseEnd) || (number && reverseId(forward[number] ?? '') === id),
          )
          return Object.fromEntries(agreeing) as { [id: string]: SignalDataTypeMap[Type] }
        })
      })
    },
    async set(data: SignalDataSet) {
      const { 'lid-mapping': mapping, ...others } = data
      await keys.set(mapping ? { ...others, 'lid-mapping': (await replacedBy(mapping)) as never } : data)
    },
  }
}

type Read<Value> = Value | Promise<Value>

/** Without a promise if there is none. */
function whenRead<Value, Result>(value: Read<Value>, use: (value: Value) => Read<Result>): Read<Result> {
  return value instanceof Promise ? value.then(use) : use(value)
}

/** More than a single call needs. The key store caches the same values. */
const entriesMax = 200

/**
 * Baileys remembers the two addresses of every contact for three days, with 400 bytes and a timer for each address. It needs
 * them only within a single call. What a new pair replaces is forgotten with it.
 */
export function boundMappingCache(mapping: LIDMappingStore): void {
  const cache = makeRecentMap<string, string>(entriesMax)
  /** `key` begins with the kind of an address, and `value` is one of the other kind. */
  const otherOf = (key: string, value: string) => `${key.startsWith('pn:') ? 'lid:' : 'pn:'}${value}`
  Reflect.set(mapping, 'mappingCache', {
    ...cache,
    set(key: string, value: string) {
      const former = cache.get(key)
      if (former !== undefined && former !== value) cache.delete(otherOf(key, former))
      cache.set(key, value)
    },
  })
}
