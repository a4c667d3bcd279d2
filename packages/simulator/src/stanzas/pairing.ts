import { createHmac, randomBytes, randomInt } from 'node:crypto'
import { Curve, proto } from 'baileys'
import { makeDevice } from '../network/device.ts'
import { lidJid, pnJid, serverJid } from '../network/jid.ts'
import { type Network, phoneOf } from '../network/network.ts'
import type { Pairing } from '../network/pairing.ts'
import { type Device, type KeyBundle, type Phone, takeDeviceId } from '../network/phone.ts'
import { SimulatorError } from '../simulator-error.ts'
import type { Connection } from '../wire/connection.ts'
import { bytes, child, type Node, node, nowSeconds } from '../wire/node.ts'
import { announceDevice } from './announce-changes.ts'
import { streamError } from './stream-error.ts'

// The client shows the first ref for 60 s and each of the others for 20 s, then gives up.
const refs = 6
const signaturePrefix = { account: Buffer.from([6, 0]), device: Buffer.from([6, 1]) }

export type QrContent = { ref: string; noiseKey: string; identityKey: string; advSecret: string }

export function startPairing(
  network: Network,
  connection: Connection,
  payload: proto.IClientPayload,
  noiseKey: Buffer,
): Pairing {
  const pairing: Pairing = {
    connection,
    noiseKey,
    bundle: readBundle(payload.devicePairingData),
    platform: readPlatform(payload.devicePairingData?.deviceProps),
    refs: Array.from({ length: refs }, () => randomBytes(24).toString('base64url')),
    scanned: undefined,
  }
  for (const ref of pairing.refs) network.pairings.set(ref, pairing)
  connection.send(
    node('iq', { from: serverJid, type: 'set', id: newId(), xmlns: 'md' }, [
      node(
        'pair-device',
        {},
        pairing.refs.map((ref) => node('ref', {}, Buffer.from(ref))),
      ),
    ]),
  )
  return pairing
}

/** The phone signs the companion's identity and sends it. Resolves when the companion has signed in return. */
export function scanQr(network: Network, qr: QrContent, number: string): Promise<Device> {
  const pairing = network.pairings.get(qr.ref)
  if (!pairing) throw new SimulatorError('This QR is unknown or has expired.')
  if (qr.noiseKey !== pairing.noiseKey.toString('base64'))
    throw new SimulatorError('This QR has another noise key.')
  if (qr.identityKey !== pairing.bundle.identity.toString('base64')) {
    throw new SimulatorError('This QR has another identity key.')
  }
  if (pairing.scanned) throw new SimulatorError('This QR has been scanned already.')
  const phone = phoneOf(network, number)
  const deviceId = takeDeviceId(phone)
  const details = proto.ADVDeviceIdentity.encode({
    rawId: randomInt(1, 2 ** 31),
    timestamp: Math.floor(Date.now() / 1000),
    keyIndex: deviceId,
    accountType: 0,
    deviceType: 0,
  }).finish()
  const replyId = newId()
  pairing.connection.send(pairSuccess(pairing, phone, deviceId, details, qr.advSecret, replyId))
  return new Promise((resolve, reject) => {
    pairing.scanned = { phone, details, replyId, linked: resolve, failed: reject }
  })
}

/** Reads stanzas of a pairing client. Ignores everything but its signature and its keep-alive. */
export function readPairingStanza(network: Network, pairing: Pairing, stanza: Node): void {
  const { scanned } = pairing
  const { id, xmlns } = stanza.attrs
  if (xmlns === 'w:p') {
    pairing.connection.send(node('iq', { from: serverJid, type: 'result', id, t: nowSeconds() }))
    return
  }
  if (stanza.tag !== 'iq' || !scanned || id !== scanned.replyId) return
  const identity = child(child(stanza, 'pair-device-sign'), 'device-identity')
  const signed = bytes(identity)
  if (!signed || !isSignedByDevice(pairing, scanned.phone, scanned.details, signed)) {
    streamError(pairing.connection, '401')
    return
  }
  const device = addDevice(network, pairing, scanned.phone, Number(identity?.attrs['key-index']))
  network.counters.pairings += 1
  scanned.linked(device)
  streamError(pairing.connection, '515')
}

export function endPairing(network: Network, pairing: Pairing): void {
  for (const ref of pairing.refs) network.pairings.delete(ref)
  pairing.scanned?.failed(new SimulatorError('The companion went away before it was linked.', 504))
}

function pairSuccess(
  pairing: Pairing,
  phone: Phone,
  deviceId: number,
  details: Uint8Array,
  advSecret: string,
  id: string,
): Node {
  const accountSignature = phone.identity.sign(
    Buffer.concat([signaturePrefix.account, details, pairing.bundle.identity]),
  )
  const signed = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignatureKey: phone.identity.public,
    accountSignature,
  }).finish()
  const hmac = createHmac('sha256', Buffer.from(advSecret, 'base64')).update(signed).digest()
  return node('iq', { from: serverJid, type: 'set', id, t: nowSeconds() }, [
    node('pair-success', {}, [
      node(
        'device-identity',
        {},
        proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish(),
      ),
      node('device', { jid: pnJid(phone.number, deviceId), lid: lidJid(phone.number, deviceId) }),
      node('platform', { name: 'android' }),
      node('biz', { name: `+${phone.number}` }),
    ]),
  ])
}

function isSignedByDevice(pairing: Pairing, phone: Phone, details: Uint8Array, signed: Buffer): boolean {
  const { deviceSignature, details: echoed } = proto.ADVSignedDeviceIdentity.decode(signed)
  if (!deviceSignature || !echoed || !Buffer.from(echoed).equals(details)) return false
  const message = Buffer.concat([
    signaturePrefix.device,
    details,
    pairing.bundle.identity,
    phone.identity.public,
  ])
  return Curve.verify(pairing.bundle.identity, message, deviceSignature)
}

function addDevice(network: Network, pairing: Pairing, phone: Phone, id: number): Device {
  const device = makeDevice({
    phone,
    id,
    platform: pairing.platform,
    linkedAt: new Date().toISOString(),
    noiseKey: pairing.noiseKey,
    bundle: pairing.bundle,
  })
  phone.devices.set(id, device)
  network.state.save(phone)
  announceDevice(network, 'add', device)
  return device
}

function readBundle(data: proto.ClientPayload.IDevicePairingRegistrationData | null | undefined): KeyBundle {
  const { eRegid, eIdent, eSkeyId, eSkeyVal, eSkeySig } = data ?? {}
  if (!eRegid || !eIdent || !eSkeyId || !eSkeyVal || !eSkeySig) throw new Error('incomplete pairing data')
  return {
    registrationId: Buffer.from(eRegid).readUInt32BE(),
    identity: Buffer.from(eIdent),
    signedPreKey: {
      id: Buffer.from(eSkeyId).readUIntBE(0, 3),
      public: Buffer.from(eSkeyVal),
      signature: Buffer.from(eSkeySig),
    },
  }
}

function readPlatform(deviceProps: Uint8Array | null | undefined): string {
  const { os, platformType } = proto.DeviceProps.decode(deviceProps ?? new Uint8Array())
  const browser = proto.DeviceProps.PlatformType[platformType ?? 0]
  return [os, browser?.toLowerCase()].filter(Boolean).join(', ')
}

const newId = (): string => randomBytes(8).toString('hex').toUpperCase()
