import { encodeBigEndian, KEY_BUNDLE_TYPE } from 'baileys'
import { handsetBundle, takePreKey } from '../handset/signal.ts'
import { isLid, lidJid, parseJid, pnJid } from '../network/jid.ts'
import { type Network, phoneOfJid } from '../network/network.ts'
import { askForPreKeys } from '../network/notify.ts'
import type { Device } from '../network/phone.ts'
import { children, type Node, type NodeContent, node } from '../wire/node.ts'
import type { IqCall } from './iq-call.ts'
import { errorOf, limitError } from './usync.ts'

/** Users that do not exist are left out: an error for one user would make the client reject the whole response. */
export function answerKeyFetch({ network }: IqCall, query: Node | undefined): NodeContent {
  const users = children(query, 'user').flatMap(({ attrs }) => {
    const bundle = bundleOf(network, attrs.jid)
    if (bundle) network.counters.prekey_fetches += 1
    return bundle ? [node('user', { jid: attrs.jid }, bundle)] : []
  })
  return [node('list', {}, users)]
}

/** The same for some devices of each user, whose sessions the client lacks. */
export function answerMissingKeyFetch({ network }: IqCall, query: Node | undefined): NodeContent {
  const users = children(query, 'user').flatMap((user) => {
    const owner = parseJid(user.attrs.jid)
    const jidOf = isLid(user.attrs.jid ?? '') ? lidJid : pnJid
    const devices = children(user, 'device').flatMap(({ attrs }) => {
      const bundle = owner && bundleOf(network, jidOf(owner.number, Number(attrs.id)))
      if (bundle) network.counters.prekey_fetches += 1
      return bundle ? [node('device', { id: attrs.id }, bundle)] : []
    })
    return devices.length > 0 ? [node('user', { jid: user.attrs.jid }, devices)] : []
  })
  return [node('list', {}, users)]
}

/** The refusal of a whole request for keys, beyond the limit or by a fault for one of its numbers. */
export function findKeyRefusal({ network, device }: IqCall, query: Node | undefined): Node | undefined {
  const limited = limitError(network, 'key_limit', device)
  if (limited) return limited
  for (const { attrs } of children(query, 'user')) {
    const fault = network.faults.strike('keys_refuse', device.phone.number, parseJid(attrs.jid)?.number)
    if (fault) return errorOf(fault)
  }
  return undefined
}

/** The keys that a contact needs to write to this device. Undefined when there is none. */
export function bundleOf(network: Network, jid: string | undefined): Node[] | undefined {
  const found = phoneOfJid(network, jid)
  if (!found) return undefined
  if (found.device === 0) {
    network.state.sessionsChanged(found.phone)
    return handsetBundle(found.phone)
  }
  const device = found.phone.devices.get(found.device)
  return device && companionBundle(network, device)
}

function companionBundle(network: Network, device: Device): Node[] {
  const { identity, registrationId, signedPreKey } = device.bundle
  const preKey = takePreKey(device)
  askForPreKeys(network, device)
  return [
    node('registration', {}, encodeBigEndian(registrationId)),
    node('type', {}, KEY_BUNDLE_TYPE),
    node('identity', {}, identity),
    node('skey', {}, [
      node('id', {}, encodeBigEndian(signedPreKey.id, 3)),
      node('value', {}, signedPreKey.public),
      node('signature', {}, signedPreKey.signature),
    ]),
    ...(preKey
      ? [node('key', {}, [node('id', {}, encodeBigEndian(preKey.id, 3)), node('value', {}, preKey.public)])]
      : []),
  ]
}
