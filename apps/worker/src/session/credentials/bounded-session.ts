import type { Chain, SessionRecord } from './session-record.ts'

type Chains = { [id: string]: Chain }

const receiving = 2
/** As many as Signal's own libraries keep. A message that arrives twice is recognised by its chain. */
const chainsKept = 5
/** Keys of messages that have not arrived, in all chains of a record. One message can skip as many. */
const waitingKeysMax = 2000

/** The record without what libsignal would keep of the past without a limit: a contact decides how much that is. */
export function boundSession(record: SessionRecord): SessionRecord {
  return withoutSpentChains(withoutOldKeys(record))
}

/** Keeps the newest keys: first of the session that was used last, then of its latest chain, then of the highest counters. */
function withoutOldKeys(record: SessionRecord): SessionRecord {
  const chains = Object.values(record._sessions)
    .toSorted((one, other) => other.indexInfo?.used - one.indexInfo?.used)
    .flatMap(({ _chains }) => Object.values(_chains).reverse())
  const count = chains.reduce((sum, { messageKeys }) => sum + Object.keys(messageKeys).length, 0)
  if (count <= waitingKeysMax) return record
  let left = waitingKeysMax
  const bounded = new Map<Chain, Chain>()
  for (const chain of chains) {
    const keys = Object.entries(chain.messageKeys)
    const kept = keys.slice(Math.max(0, keys.length - left))
    left -= kept.length
    bounded.set(chain, { ...chain, messageKeys: Object.fromEntries(kept) })
  }
  return mapChains(record, (chains) =>
    Object.fromEntries(Object.entries(chains).map(([id, chain]) => [id, bounded.get(chain) ?? chain])),
  )
}

/**
 * Drops the older ones of those chains that decrypt nothing any more. libsignal adds a chain whenever the contact answers,
 * and keeps all of them. What has keys of messages that have not arrived stays.
 */
function withoutSpentChains(record: SessionRecord): SessionRecord {
  const hasSpent = Object.values(record._sessions).some(({ _chains }) => listSpent(_chains).length > 0)
  if (!hasSpent) return record
  return mapChains(record, (chains) => {
    const spent = listSpent(chains)
    return Object.fromEntries(Object.entries(chains).filter(([id]) => !spent.includes(id)))
  })
}

/** The chains are in the order in which they began. */
function listSpent(chains: Chains): string[] {
  return Object.entries(chains)
    .filter(([, { chainType }]) => chainType === receiving)
    .slice(0, -chainsKept)
    .filter(([, { chainKey, messageKeys }]) => !chainKey.key && Object.keys(messageKeys).length === 0)
    .map(([id]) => id)
}

function mapChains(record: SessionRecord, change: (chains: Chains) => Chains): SessionRecord {
  const sessions = Object.entries(record._sessions).map(
    ([key, session]) => [key, { ...session, _chains: change(session._chains) }] as const,
  )
  return { ...record, _sessions: Object.fromEntries(sessions) }
}
