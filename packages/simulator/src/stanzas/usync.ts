import type { Fault } from '../network/faults.ts'
import { lidJid, parseJid, pnJid, withoutMobileDigit } from '../network/jid.ts'
import { type Network, phoneOf } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { type LimitKind, secondsToWait } from '../network/rate-limits.ts'
import { bytes, child, children, type Node, type NodeContent, node } from '../wire/node.ts'
import type { IqCall } from './iq-call.ts'

/** Answers queries about users: whether they are on WhatsApp, their devices, and their LID. */
export function answerUsync({ network, device }: IqCall, query: Node | undefined): NodeContent {
  const asked = new Set(children(child(query, 'query')).map((protocol) => protocol.tag))
  const asker = device.phone.number
  // A fault without a number affects the whole query, one with a number only the entry of that number.
  const failed = asked.has('contact') ? network.faults.strike('lookup_error', asker, undefined) : undefined
  const users = failed
    ? []
    : children(child(query, 'list'), 'user').flatMap((user) => answerUser(network, asker, asked, user))
  return [
    node('usync', { ...query?.attrs }, [
      node(
        'result',
        {},
        [...asked].map((tag) => (failed && tag === 'contact' ? node(tag, {}, [errorOf(failed)]) : node(tag))),
      ),
      node('list', {}, users),
    ]),
  ]
}

/** Notes a query about users. Other queries name none. */
export function noteLookup({ network, connection, device }: IqCall, query: Node | undefined): void {
  const users = children(child(query, 'list'), 'user')
  if (users.length === 0) return
  network.lookups.add({
    t: new Date().toISOString(),
    connection: connection.id,
    sender: device.phone.number,
    asked: children(child(query, 'query')).map(({ tag }) => tag),
    numbers: users.flatMap((user) => dialledNumber(user) || (parseJid(user.attrs.jid)?.number ?? [])),
  })
}

/** The delay that faults add to the response. */
export function usyncDelayMs({ network, device }: IqCall, query: Node | undefined): number {
  if (!child(child(query, 'query'), 'devices')) return 0
  const delaysMs = children(child(query, 'list'), 'user').map(({ attrs }) => {
    const number = parseJid(attrs.jid ?? '')?.number
    return network.faults.strike('devices_delay', device.phone.number, number)?.ms ?? 0
  })
  return Math.max(0, ...delaysMs)
}

function answerUser(network: Network, asker: string, asked: Set<string>, user: Node): Node[] {
  const phoneText = bytes(child(user, 'contact'))?.toString()
  const dialled = dialledNumber(user)
  const isCorrected = phoneText && network.faults.strike('lookup_correct', asker, dialled)
  const jid = user.attrs.jid ?? pnJid(isCorrected ? withoutMobileDigit(dialled) : dialled)
  const parsed = parseJid(jid)
  if (!parsed) return phoneText ? [node('user', { jid }, [contact('out', phoneText)])] : []
  const { number } = parsed
  if (asked.has('devices') && network.faults.strike('devices_omit', asker, number)) return []
  const results: Node[] = []
  if (asked.has('contact')) {
    if (network.faults.strike('lookup_omit', asker, number)) return []
    const failed = network.faults.strike('lookup_error', asker, number)
    if (failed) return [node('user', { jid }, [node('contact', {}, [errorOf(failed)])])]
    const isMissing = network.faults.strike('not_on_whatsapp', asker, number) !== undefined
    results.push(contact(isMissing ? 'out' : 'in', phoneText ?? `+${number}`))
  }
  if (asked.has('devices')) results.push(deviceList(network, asker, number))
  const isLidWanted = asked.has('lid') && !jid.endsWith('@lid')
  if (isLidWanted && !network.faults.strike('lid_omit', asker, number)) {
    results.push(node('lid', { val: lidJid(number) }))
  }
  return [node('user', { jid }, results)]
}

/** The refusal of the whole query, by a fault for one of its numbers. */
export function findLookupRefusal({ network, device }: IqCall, query: Node | undefined): Node | undefined {
  const asked = child(query, 'query')
  const limited = asked && limitError(network, 'lookup_limit', device)
  if (limited) return limited
  for (const user of children(child(query, 'list'), 'user')) {
    const number = dialledNumber(user) || undefined
    const refusal =
      (child(asked, 'contact') && network.faults.strike('lookup_refuse', device.phone.number, number)) ??
      (child(asked, 'devices') &&
        network.faults.strike('devices_refuse', device.phone.number, parseJid(user.attrs.jid)?.number))
    if (refusal) return errorOf(refusal)
  }
  return undefined
}

/** The digits of the number that the entry asks for. Empty if it asks for an address. */
function dialledNumber(user: Node): string {
  return (bytes(child(user, 'contact'))?.toString() ?? '').replace(/\D/g, '')
}

/** Beyond the limit for an account, with the seconds to wait. */
export function limitError(network: Network, kind: LimitKind, { phone }: Device): Node | undefined {
  const seconds = secondsToWait(network.faults, kind, phone.number)
  if (seconds === undefined) return undefined
  return node('error', { code: '429', text: 'rate-overlimit', backoff: seconds.toString() })
}

export function errorOf({ code, backoff }: Fault): Node {
  return node('error', { code, backoff: backoff?.toString() })
}

function contact(type: 'in' | 'out', phoneText: string): Node {
  return node('contact', { type }, Buffer.from(phoneText))
}

function deviceList(network: Network, asker: string, number: string): Node {
  network.counters.device_lookups += 1
  const phone = phoneOf(network, number)
  if (number !== asker) phone.watchers.add(asker)
  const devices = [...phone.devices.values()]
  return node('devices', {}, [
    node('device-list', {}, [
      node('device', { id: '0' }),
      // Clients drop companions without a key index.
      ...devices.map(({ id }) => node('device', { id: id.toString(), 'key-index': id.toString() })),
    ]),
    node('key-index-list', { ts: Math.floor(Date.now() / 1000).toString() }),
  ])
}
