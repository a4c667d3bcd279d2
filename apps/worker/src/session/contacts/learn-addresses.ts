import { type BinaryNode, isLidUser, isPnUser, jidNormalizedUser, type WASocket } from 'baileys'
import { makeRecentMap } from '../../caches/recent-map.ts'

type Attributes = BinaryNode['attrs']
type Pair = { pn: string; lid: string }

const knownMax = 4000

/**
 * Stores the two addresses of a contact from the stanzas that Baileys does not learn from: receipts, calls and
 * notifications. It learns from messages, from look-ups of devices and from the history.
 */
export function learnAddresses({ ws, signalRepository }: WASocket): void {
  /** Stored or being stored, in both directions. */
  const known = makeRecentMap<string, string>(knownMax)

  function learn({ attrs }: BinaryNode): void {
    const news = addressPairs(attrs).filter(({ pn, lid }) => known.get(pn) !== lid || known.get(lid) !== pn)
    if (news.length === 0) return
    for (const { pn, lid } of news) known.set(pn, lid)
    for (const { pn, lid } of news) known.set(lid, pn)
    signalRepository.lidMapping.storeLIDPNMappings(news).catch(() => {
      for (const { pn } of news) known.delete(pn)
    })
  }

  for (const event of ['CB:receipt', 'CB:call', 'CB:notification']) ws.on(event, learn)
}

/** Whose addresses a stanza gives in which attributes. */
export function addressPairs(attrs: Attributes): Pair[] {
  const { from, participant, recipient } = attrs
  return [
    pairOf(
      participant ?? from,
      attrs.participant_pn,
      attrs.participant_lid,
      attrs.sender_pn,
      attrs.sender_lid,
    ),
    pairOf(from, attrs.lid),
    pairOf(recipient, attrs.recipient_pn, attrs.recipient_lid),
    pairOf(recipient, attrs.peer_recipient_pn, attrs.peer_recipient_lid),
  ].flatMap((pair) => pair ?? [])
}

/** Undefined unless one of the others is the address of the other kind. */
function pairOf(address: string | undefined, ...others: (string | undefined)[]): Pair | undefined {
  const jid = jidNormalizedUser(address)
  const other = others.map((one) => jidNormalizedUser(one))
  if (isPnUser(jid)) {
    const lid = other.find((one) => isLidUser(one))
    return lid ? { pn: jid, lid } : undefined
  }
  const pn = isLidUser(jid) ? other.find((one) => isPnUser(one)) : undefined
  return pn ? { pn, lid: jid } : undefined
}
