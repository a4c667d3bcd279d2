import type { Chain, SessionRecord } from './session-record.ts'

const receiving = 2
/** As many as Signal's own libraries keep. A message that arrives twice is recognised by its chain. */
const chainsKept = 5

/**
 * The record without the older ones of those chains that decrypt nothing any more. libsignal adds a chain whenever the
 * contact answers, and keeps all of them. What has keys of messages that have not arrived stays.
 */
export function withoutSpentChains(record: SessionRecord): SessionRecord {
  const spent = Object.values(record._sessions).map((session) => listSpent(session._chains))
  if (spent.every((ids) => ids.length === 0)) return record
  const sessions = Object.entries(record._sessions).map(([key, session], index) => {
    const chains = Object.entries(session._chains).filter(([id]) => !spent[index]?.includes(id))
    return [key, { ...session, _chains: Object.fromEntries(chains) }] as const
  })
  return { ...record, _sessions: Object.fromEntries(sessions) }
}

/** The chains are in the order in which they began. */
function listSpent(chains: { [id: string]: Chain }): string[] {
  return Object.entries(chains)
    .filter(([, { chainType }]) => chainType === receiving)
    .slice(0, -chainsKept)
    .filter(([, { chainKey, messageKeys }]) => !chainKey.key && Object.keys(messageKeys).length === 0)
    .map(([id]) => id)
}
