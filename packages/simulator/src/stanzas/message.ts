import { setTimeout as wait } from 'node:timers/promises'
import type { Arrival } from '../handset/arrival.ts'
import { receiveAtHandset } from '../handset/inbox.ts'
import { receivedKey } from '../network/chat.ts'
import { deliver, deviceJid, deviceLid, messageKey } from '../network/device.ts'
import type { Fault } from '../network/faults.ts'
import { parseJid, userJid } from '../network/jid.ts'
import { type Network, phoneOf, phoneOfJid } from '../network/network.ts'
import { hasChat, noteChat, refuseFirstContact } from '../network/new-chats.ts'
import { noteUnknown } from '../network/note-unknown.ts'
import { type Device, noteAccepted } from '../network/phone.ts'
import { secondsToWait } from '../network/rate-limits.ts'
import type { LogEntry } from '../network/recent-log.ts'
import type { Connection } from '../wire/connection.ts'
import { bytes, child, type Node, node, nowSeconds } from '../wire/node.ts'
import { breakConnection } from './break-connection.ts'
import { ciphertexts } from './ciphertexts.ts'
import { noteFlaws } from './note-flaws.ts'
import { hashOfMissed } from './participant-hash.ts'
import { proofOf } from './privacy-token.ts'

type Incoming = { device: Device; connection: Connection; stanza: Node; entry: LogEntry }

/** Logs and acknowledges a message of a companion, and passes each ciphertext to its device. */
export function receiveMessage(network: Network, device: Device, connection: Connection, stanza: Node): void {
  const { id, to } = stanza.attrs
  const recipient = parseJid(to)?.number
  if (!id || !to || !recipient) {
    noteUnknown(network, { kind: `message to ${to?.split('@')[1]}`, sender: device.phone.number, stanza })
    connection.send(node('ack', { class: 'message', id, from: to, t: nowSeconds(), error: '501' }))
    return
  }
  const sender = device.phone.number
  const entry: LogEntry = {
    t: new Date().toISOString(),
    connection: connection.id,
    sender,
    wa_message_id: id,
    recipient,
    ack: null,
    token: null,
    receipt: false,
    duplicate: phoneOf(network, recipient).accepted.has(receivedKey(sender, id)),
    devices: devicesOf(stanza, recipient),
  }
  const incoming: Incoming = { device, connection, stanza, entry }
  noteFlaws(network, device, stanza)
  // Peer messages to the own phone, such as responses to history requests, are not messages to a contact.
  const isPeer = stanza.attrs.category === 'peer'
  if (!isPeer) {
    network.log.add(entry)
    network.counters.messages += 1
    if (entry.duplicate) network.counters.duplicates += 1
    entry.token = proofOf(network, device.phone, stanza)
    if (entry.token === 'invalid') network.counters.invalid_tokens += 1
    const refusal = refusalOf(network, device, entry)
    if (refusal) {
      acknowledge(network, incoming, refusal)
      return
    }
    noteAccepted(phoneOf(network, recipient), receivedKey(sender, id))
    noteChat(device.phone, phoneOf(network, recipient))
  }
  route(network, incoming, isPeer ? acknowledge(network, incoming) : acknowledgeOrFail(network, incoming))
}

function devicesOf(stanza: Node, recipient: string): number[] {
  return ciphertexts(stanza).flatMap(({ jid }) => {
    const addressed = parseJid(jid)
    return addressed?.number === recipient ? [addressed.device] : []
  })
}

function acknowledgeOrFail(network: Network, incoming: Incoming): Promise<void> | undefined {
  const { device, entry } = incoming
  const { sender, recipient } = entry
  const broken = strikeAtMessage(network, sender, recipient)
  if (broken) {
    entry.ack = 'dropped'
    breakConnection(network, device, broken)
    return undefined
  }
  if (network.faults.strike('ack_drop', sender, recipient)) {
    entry.ack = 'dropped'
    return undefined
  }
  const late = network.faults.strike('ack_delay', sender, recipient)
  if (late) return wait(late.ms ?? 0, undefined, { ref: false }).then(() => acknowledge(network, incoming))
  return acknowledge(network, incoming)
}

function strikeAtMessage(network: Network, sender: string, recipient: string): Fault | undefined {
  return (
    network.faults.strike('drop', sender, recipient, 'message') ??
    network.faults.strike('half_open', sender, recipient, 'message') ??
    network.faults.strike('stream_error', sender, recipient, 'message')
  )
}

function acknowledge(
  network: Network,
  { connection, device, stanza, entry }: Incoming,
  error?: string,
): undefined {
  const { id, to = '', category } = stanza.attrs
  entry.ack = error ?? 'ok'
  // A resend to one device, or a peer message, is not meant for the others.
  const isForAll = child(stanza, 'participants') !== undefined && category !== 'peer'
  const phash =
    isForAll && !error
      ? hashOfMissed(
          device,
          phoneOf(network, entry.recipient),
          to,
          ciphertexts(stanza).map(({ jid }) => jid),
        )
      : undefined
  const isMappingNews = isForAll && network.faults.strike('refresh_lid', entry.sender, entry.recipient)
  const refresh_lid = isMappingNews ? 'true' : undefined
  connection.send(node('ack', { class: 'message', id, from: to, t: nowSeconds(), error, phash, refresh_lid }))
}

/** The code with which the server refuses a message, by a fault or because its sender may not write to new contacts. */
function refusalOf(network: Network, { phone }: Device, { recipient, token }: LogEntry): string | undefined {
  if (secondsToWait(network.faults, 'message_limit', phone.number) !== undefined) return '429'
  const fault = network.faults.strike('ack_error', phone.number, recipient)
  if (fault?.code) return fault.code
  if (hasChat(phone, recipient) || token === 'tctoken') return undefined
  const firstFault = network.faults.strike('first_contact_error', phone.number, recipient)
  return firstFault?.code ?? refuseFirstContact(phone, phoneOf(network, recipient), token)
}

function route(network: Network, incoming: Incoming, acknowledged: Promise<void> | undefined): void {
  const { device, stanza, entry } = incoming
  const { id = '', to = '', type } = stanza.attrs
  for (const { jid, enc } of ciphertexts(stanza)) {
    const target = phoneOfJid(network, jid)
    const body = bytes(enc)
    if (!target || !body) continue
    if (target.device !== 0) {
      const companion = target.phone.devices.get(target.device)
      if (companion && companion !== device) forward(incoming, companion, jid, enc)
      continue
    }
    const arrival: Arrival = {
      sender: device,
      id,
      to,
      handsetJid: jid,
      sealed: { type: enc.attrs.type === 'pkmsg' ? 'pkmsg' : 'msg', body },
      stanzaType: type,
      mediaType: enc.attrs.mediatype,
      entry,
      acknowledged,
    }
    receiveAtHandset(network, target.phone, arrival)
  }
}

/** From companion to companion: the servers only swap the addresses. */
function forward({ device, stanza }: Incoming, companion: Device, jid: string, enc: Node): void {
  const { id = '', to = '', type } = stanza.attrs
  const isLid = jid.endsWith('@lid')
  const isOwn = companion.phone === device.phone
  const identity = child(stanza, 'device-identity')
  const attrs = {
    from: isLid ? deviceLid(device) : deviceJid(device),
    id,
    t: nowSeconds(),
    type,
    notify: `+${device.phone.number}`,
    recipient: isOwn ? userJid(to) : undefined,
    sender_lid: isLid ? undefined : deviceLid(device),
    sender_pn: isLid ? deviceJid(device) : undefined,
  }
  deliver(companion, messageKey(id), node('message', attrs, identity ? [enc, identity] : [enc]))
}
