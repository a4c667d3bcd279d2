import type { proto } from 'baileys'
import type { Device } from '../network/device.ts'
import { deviceOf, type Network } from '../network/network.ts'
import { countUnknown } from '../network/stats.ts'
import type { Connection, ConnectionEvents } from '../wire/connection.ts'
import { child, type Node } from '../wire/node.ts'
import { answerIq } from './iq.ts'
import { logIn } from './login.ts'
import { receiveMessage } from './message.ts'
import { endPairing, readPairingStanza, startPairing } from './pairing.ts'
import { receiveAck, receiveReceipt } from './receipt.ts'
import { sendOffline } from './stream.ts'

/** What happens on the connections of one network. */
export function clientEvents(network: Network): ConnectionEvents {
  return {
    onClient: (connection, payload, clientKey) => meetClient(network, connection, payload, clientKey),
    onNode: (connection, stanza) => readStanza(network, connection, stanza),
    onClose: (connection) => closeClient(network, connection),
    onFailure: (_connection, error) => network.reportFailure(error),
    readDelayMs: (connection) => {
      const sender = deviceOf(network, connection)?.phone.number
      return sender === undefined ? 0 : (network.faults.strike('slow_read', sender)?.ms ?? 0)
    },
  }
}

function meetClient(
  network: Network,
  connection: Connection,
  payload: proto.IClientPayload,
  clientKey: Buffer,
): void {
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
  switch (stanza.tag) {
    case 'iq':
      return answerIq({ network, device, connection, stanza })
    case 'message':
      return receiveMessage(network, device, connection, stanza)
    case 'receipt':
      return receiveReceipt(network, device, stanza)
    case 'ack':
      return receiveAck(device, stanza)
    case 'ib':
      if (child(stanza, 'offline_batch')) sendOffline(network, device)
      return
    case 'presence':
    case 'chatstate':
      return
    default:
      return countUnknown(network.counters, stanza.tag)
  }
}
