import { createHmac, randomInt } from 'node:crypto'
import { proto } from 'baileys'
import { lidJid, pnJid, serverJid } from '../network/jid.ts'
import { newId } from '../network/notify.ts'
import type { Pairing } from '../network/pairing.ts'
import { type Device, type Phone, takeDeviceId } from '../network/phone.ts'
import { type Node, node, nowSeconds } from '../wire/node.ts'

const accountSignaturePrefix = Buffer.from([6, 0])

/** The phone signs the companion's identity and sends it. Resolves when the companion has signed in return. `advSecret` proves to it that the phone knows its code. */
export function offerLink(pairing: Pairing, phone: Phone, advSecret: string): Promise<Device> {
  const deviceId = takeDeviceId(phone)
  const details = proto.ADVDeviceIdentity.encode({
    rawId: randomInt(1, 2 ** 31),
    timestamp: Math.floor(Date.now() / 1000),
    keyIndex: deviceId,
    accountType: 0,
    deviceType: 0,
  }).finish()
  const replyId = newId()
  pairing.connection.send(pairSuccess(pairing, phone, deviceId, details, advSecret, replyId))
  return new Promise((resolve, reject) => {
    pairing.scanned = { phone, details, replyId, linked: resolve, failed: reject }
  })
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
    Buffer.concat([accountSignaturePrefix, details, pairing.bundle.identity]),
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
