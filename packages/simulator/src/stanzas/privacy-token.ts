import { randomBytes } from 'node:crypto'
import { saltOf } from '../network/account-salt.ts'
import { lidJid, parseJid, pnJid } from '../network/jid.ts'
import { type Network, phoneOf, phoneOfJid } from '../network/network.ts'
import { isTrusted, type Proof } from '../network/new-chats.ts'
import { notify } from '../network/notify.ts'
import type { Phone } from '../network/phone.ts'
import { addToken, coldToken } from '../network/privacy-token.ts'
import { bytes, child, children, type Node, type NodeContent, node } from '../wire/node.ts'
import type { IqCall } from './iq-call.ts'

/** The contact lets the account write to it: the servers pass its token on, and tell the companions unless told not to. */
export function giveToken(contact: Phone, phone: Phone, issuedAt: number, isTold = true): void {
  const token = randomBytes(16)
  const { tokens } = phone.newChats
  tokens.set(contact.number, addToken(tokens.get(contact.number) ?? [], { token, issuedAt }))
  if (!isTold) return
  const lid = lidJid(contact.number)
  const address = contact.hidesNumber ? { from: lid } : { from: pnJid(contact.number), sender_lid: lid }
  const attributes = { ...address, type: 'privacy_token' }
  for (const device of phone.devices.values()) {
    const jid = pnJid(phone.number, device.id)
    const given = [node('token', { type: 'trusted_contact', t: issuedAt.toString(), jid }, token)]
    notify(device, attributes, [node('tokens', {}, given)])
  }
}

/** A companion gives the token of its account to contacts. The answer has the newest ones that they gave to the account. */
export function answerTokens({ network, device }: IqCall, query: Node | undefined): NodeContent {
  const { phone } = device
  const held: Node[] = []
  for (const { attrs } of children(query, 'token')) {
    const contact = phoneOfJid(network, attrs.jid)?.phone
    if (!contact || contact === phone) continue
    giveToken(phone, contact, Number(attrs.t) || Math.floor(Date.now() / 1000))
    const newest = phone.newChats.tokens.get(contact.number)?.at(-1)
    const { jid, type } = attrs
    if (newest) held.push(node('token', { jid, t: newest.issuedAt.toString(), type }, newest.token))
  }
  return [node('tokens', {}, held)]
}

/** Judges the token that a message carries. A message with both kinds is none of a real client. */
export function proofOf(network: Network, phone: Phone, stanza: Node): Proof {
  const trusted = bytes(child(stanza, 'tctoken'))
  const cold = bytes(child(stanza, 'cstoken'))
  const recipient = parseJid(stanza.attrs.to)?.number
  if ((!trusted && !cold) || !recipient) return null
  if (trusted && cold) return 'invalid'
  if (trusted) return isTrusted(phone, recipient, trusted) ? 'tctoken' : 'invalid'
  const expected = coldToken(saltOf(network, phone), lidJid(phoneOf(network, recipient).number))
  return cold && expected.equals(cold) ? 'cstoken' : 'invalid'
}
