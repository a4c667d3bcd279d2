import { randomBytes } from 'node:crypto'
import { Curve, proto } from 'baileys'
import { makeDevice } from '../network/device.ts'
import { refreshMoments } from '../network/faults.ts'
import { serverJid } from '../network/jid.ts'
import { type Network, phoneOf } from '../network/network.ts'
import { newId } from '../network/notify.ts'
import type { Pairing } from '../network/pairing.ts'
import type { Device, KeyBundle, Phone } from '../network/phone.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { clientVersionOf } from '../network/web-version.ts'
import type { Connection } from '../wire/connection.ts'
import { bytes, child, type Node, node, nowSeconds } from '../wire/node.ts'
import { announceDevice } from './announce-changes.ts'
import { checkClientVersion } from './check-client-version.ts'
import { readLinkCode } from './link-code.ts'
import { demandPairingAcks, noteMissingAcks, readPairingAck, untilAcknowledged } from './notify-pairing.ts'
import { offerLink } from './offer-link.ts'
import { askForPasskey, readPasskeyRequest } from './passkey.ts'
import { checkSecret, noteNewSecret, retireBeforeScan, retireType } from './retire-secret.ts'
import { streamError } from './stream-error.ts'

// The client shows the first ref for 60 s and each of the others for 20 s, then gives up.
const refs = 6
const deviceSignaturePrefix = Buffer.from([6, 1])

export type QrContent = { ref: string; noiseKey: string; identityKey: string; advSecret: string }

export function startPairing(
  network: Network,
  connection: Connection,
  payload: proto.IClientPayload,
  noiseKey: Buffer,
): Pairing {
  const refresh = network.faults.strike('registration_refresh', undefined)
  const pairing: Pairing = {
    connection,
    noiseKey,
    version: clientVersionOf(payload),
    refsId: newId(),
    bundle: readBundle(payload.devicePairingData),
    ...readProperties(payload.devicePairingData?.deviceProps),
    refs: Array.from({ length: refs }, () => randomBytes(24).toString('base64url')),
    refresh: refreshMoments.find((moment) => moment === refresh?.code),
    secrets: { scanned: new Set(), retired: new Set(), newFromMs: 0 },
    notified: new Map(),
    isLinked: false,
    scanned: undefined,
    linkCode: undefined,
    passkey: undefined,
  }
  for (const ref of pairing.refs) network.pairings.set(ref, pairing)
  connection.send(
    node('iq', { from: serverJid, type: 'set', id: pairing.refsId, xmlns: 'md' }, [
      node(
        'pair-device',
        {},
        pairing.refs.map((ref) => node('ref', {}, Buffer.from(ref))),
      ),
    ]),
  )
  demandPairingAcks(network, pairing)
  return pairing
}

/**
 * The phone scans. Resolves when it accepts the QR code, to a promise that resolves when the companion has signed its link.
 */
export async function scanQr(
  network: Network,
  qr: QrContent,
  number: string,
): Promise<{ linking: Promise<Device> }> {
  const pairing = network.pairings.get(qr.ref)
  if (!pairing) throw new SimulatorError('The QR code is unknown or has expired. Scan the current one.')
  if (qr.noiseKey !== pairing.noiseKey.toString('base64'))
    throw new SimulatorError('The QR code has another noise key than the companion. Scan the current one.')
  if (qr.identityKey !== pairing.bundle.identity.toString('base64')) {
    throw new SimulatorError('The QR code has another identity key than the companion. Scan the current one.')
  }
  await checkSecret(pairing, qr.advSecret)
  checkClientVersion(network, pairing)
  if (pairing.scanned || pairing.passkey)
    throw new SimulatorError('The QR code was scanned already. Scan a new one.')
  const phone = phoneOf(network, number)
  return {
    linking: phone.isPasskeyRequired
      ? askForPasskey(pairing, phone, qr.advSecret)
      : offerLink(pairing, phone, qr.advSecret),
  }
}

/** Reads the stanzas of a pairing client. */
export function readPairingStanza(network: Network, pairing: Pairing, stanza: Node): void {
  if (stanza.tag === 'ack') {
    if (readPairingAck(pairing, stanza) === retireType) noteNewSecret(pairing)
  } else if (stanza.tag !== 'iq') return
  else if (stanza.attrs.id === pairing.refsId) retireBeforeScan(pairing)
  else readPairingIq(network, pairing, stanza)
}

/** Reads its signature, its keep-alive and its request for a code. Ignores others. */
function readPairingIq(network: Network, pairing: Pairing, stanza: Node): void {
  const { scanned } = pairing
  const { id, xmlns } = stanza.attrs
  if (xmlns === 'w:p') {
    pairing.connection.send(node('iq', { from: serverJid, type: 'result', id, t: nowSeconds() }))
    return
  }
  const linkCode = child(stanza, 'link_code_companion_reg')
  if (linkCode) {
    readLinkCode(network, pairing, id, linkCode)
    return
  }
  if (readPasskeyRequest(network, pairing, stanza)) return
  if (!scanned || id !== scanned.replyId) return
  const identity = child(child(stanza, 'pair-device-sign'), 'device-identity')
  const signed = bytes(identity)
  if (!signed || !isSignedByDevice(pairing, scanned.phone, scanned.details, signed)) {
    streamError(pairing.connection, '401')
    return
  }
  const device = addDevice(network, pairing, scanned.phone, Number(identity?.attrs['key-index']))
  network.counters.pairings += 1
  pairing.isLinked = true
  scanned.linked(device)
  void untilAcknowledged(pairing).then(() => streamError(pairing.connection, '515'))
}

export function endPairing(network: Network, pairing: Pairing): void {
  noteMissingAcks(network, pairing)
  for (const ref of pairing.refs) network.pairings.delete(ref)
  const sentence = 'The companion disconnected before it was linked. Scan a new QR code.'
  const gone = new SimulatorError(sentence, 504)
  if (pairing.passkey) pairing.passkey.failed(gone)
  else if (pairing.scanned) pairing.scanned.failed(gone)
  else pairing.linkCode?.typed?.failed(gone)
}

function isSignedByDevice(pairing: Pairing, phone: Phone, details: Uint8Array, signed: Buffer): boolean {
  const { deviceSignature, details: echoed } = proto.ADVSignedDeviceIdentity.decode(signed)
  if (!deviceSignature || !echoed || !Buffer.from(echoed).equals(details)) return false
  const message = Buffer.concat([
    deviceSignaturePrefix,
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
    wantsFullHistory: pairing.wantsFullHistory,
    readsInlineHistory: pairing.readsInlineHistory,
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

function readProperties(deviceProps: Uint8Array | null | undefined) {
  const { os, platformType, requireFullSync, historySyncConfig } = proto.DeviceProps.decode(
    deviceProps ?? new Uint8Array(),
  )
  const browser = proto.DeviceProps.PlatformType[platformType ?? 0]
  return {
    platform: [os, browser?.toLowerCase()].filter(Boolean).join(', '),
    wantsFullHistory: requireFullSync ?? false,
    readsInlineHistory: historySyncConfig?.inlineInitialPayloadInE2EeMsg ?? false,
  }
}
