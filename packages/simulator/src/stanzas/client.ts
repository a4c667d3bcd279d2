import type { proto } from 'baileys'
import { deviceOf, type Network } from '../network/network.ts'
import { noteUnknown } from '../network/note-unknown.ts'
import type { Device } from '../network/phone.ts'
import type { Connection, ConnectionEvents } from '../wire/connection.ts'
import { child, type Node } from '../wire/node.ts'
import { receiveChatState } from './chat-state.ts'
import { answerIq } from './iq.ts'
import { isRefusedAtLogin, logIn, refuseOutdated } from './login.ts'
import { receiveMessage } from './message.ts'
import { endPairing, readPairingStanza, startPairing } from './pairing.ts'
import { receiveAck, receiveReceipt } from './receipt.ts'
import { sendOffline } from './stream.ts'

/** Handles the events of all connections of one network. */
export function clientEvents(network: Network): ConnectionEvents {
  return {
    onClient: (connection, payload, clientKey) => meetClient(network, connection, payload, clientKey),
    onNode: (connection, stanza) => readStanza(network, connection, stanza),
    onClose: (connection) => closeClient(network, connection),
    onFailure: (_connection, error) => network.reportFailure(error),
    readDelayMs: (connection, bytes) => {
      const sender = deviceOf(network, connection)?.phone.number
      const slow = sender === undefined ? undefined : network.faults.strike('slow_read', sender)
      return slow?.bytes_per_second ? (bytes / slow.bytes_per_second) * 1000 : (slow?.ms ?? 0)
    },
  }
}

function meetClient(
  network: Network,
  connection: Connection,
  payload: proto.IClientPayload,
  clientKey: Buffer,
): void {
  if (payload.devicePairingData && isRefusedAtLogin(network, payload)) {
    refuseOutdated(network, connection, payload)
    return
  }
  if (payload.devicePairingData) {
    const pairing = startPairing(network, connection, payload, clientKey)
    network.connections.set(connection, { kind: 'pairing', pairing })
    return
  }
  logIn(network, connection, payload, clientKey)
}

function closeClient(network: Network, connection: Connection): void {
  const client = network.connections.get(connection)
  network.connections.delete(connection)
  if (client?.kind === 'pairing') endPairing(network, client.pairing)
  if (client?.kind === 'device' && client.device.connection === connection) {
    client.device.connection = undefined
    client.device.active = false
  }
}

function readStanza(network: Network, connection: Connection, stanza: Node): void {
  const client = network.connections.get(connection)
  if (client?.kind === 'pairing') readPairingStanza(network, client.pairing, stanza)
  if (client?.kind === 'device') readDeviceStanza(network, client.device, connection, stanza)
}

function readDeviceStanza(network: Network, device: Device, connection: Connection, stanza: Node): void {
  network.counters.stanzas += 1
  const read = readers[stanza.tag]
  if (read) read(network, device, connection, stanza)
  else noteUnknown(network, { kind: stanza.tag, sender: device.phone.number, stanza })
}

const readers: Record<
  string,
  (network: Network, device: Device, connection: Connection, stanza: Node) => void
> = {
  iq: (network, device, connection, stanza) => answerIq({ network, device, connection, stanza }),
  message: receiveMessage,
  receipt: (network, device, _connection, stanza) => receiveReceipt(network, device, stanza),
  ack: (network, device, _connection, stanza) => receiveAck(network, device, stanza),
  ib: (network, device, _connection, stanza) => {
    const batch = child(stanza, 'offline_batch')
    if (batch) sendOffline(network, device, Number(batch.attrs.count))
  },
  presence: () => {},
  chatstate: (network, device, _connection, stanza) => receiveChatState(network, device, stanza),
}
