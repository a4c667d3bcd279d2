import { child, children, type Node } from '../wire/node.ts'

/** One for each device, or a single one for the device in `to`: a resend to one device, or a peer message. */
export function ciphertexts(stanza: Node): Array<{ jid: string; enc: Node }> {
  const direct = child(stanza, 'enc')
  if (direct) return [{ jid: stanza.attrs.to ?? '', enc: direct }]
  return children(child(stanza, 'participants'), 'to').flatMap((participant) => {
    const enc = child(participant, 'enc')
    return enc && participant.attrs.jid ? [{ jid: participant.attrs.jid, enc }] : []
  })
}
