import { createCipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { proto } from 'baileys'
import { sealFile } from '../handset/seal-file.ts'
import { saltOf } from '../network/account-salt.ts'
import { deliver, notificationKey } from '../network/device.ts'
import { serverJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { children, type Node, type NodeContent, node, nowSeconds } from '../wire/node.ts'
import { lengthDelimited } from '../wire/protobuf.ts'
import type { IqCall } from './iq-call.ts'

/** The collection that the salt of an account is in. The others are empty. */
const collection = 'regular_high'
const saltIndex = Buffer.from(JSON.stringify(['nct_salt_sync']))
/** Fields of SyncActionValue and NctSaltSyncAction, which the protocol of Baileys lacks. */
const [saltActionField, saltField] = [80, 1]

/** The key with which a phone encrypts its app state for its companions. Derived, so it needs no storage. */
export function appStateKey({ identity }: Phone): { id: Buffer; data: Buffer } {
  const derive = (what: string) => createHmac('sha256', identity.seed).update(what).digest()
  return {
    id: Buffer.concat([Buffer.from([0, 0]), derive('app state key id').subarray(0, 4)]),
    data: derive('app state key'),
  }
}

/** WhatsApp gives the account another salt, and its companions fetch it. */
export function renewSalt(network: Network, phone: Phone): void {
  phone.saltsRenewed += 1
  network.state.save(phone)
  const id = randomBytes(8).toString('hex').toUpperCase()
  const changed = node('collection', { name: collection, version: phone.saltsRenewed.toString() })
  const stanza = node('notification', { from: serverJid, type: 'server_sync', id, t: nowSeconds() }, [
    changed,
  ])
  for (const device of phone.devices.values()) deliver(device, notificationKey(id), stanza)
}

/** The version of the app state is the number of salts since the first one, which comes with the history. */
export function answerAppState({ network, device: { phone } }: IqCall, query: Node | undefined): NodeContent {
  const version = phone.saltsRenewed
  const answers = children(query, 'collection').map(
    ({ attrs: { name, version: known, return_snapshot } }) => {
      const attrs = { name, version: known, type: 'result' }
      if (name !== collection || Number(known) >= version) return node('collection', attrs)
      const content =
        return_snapshot === 'true'
          ? node('snapshot', {}, snapshotOf(network, phone))
          : node('patches', {}, [node('patch', {}, patchOf(network, phone))])
      return node('collection', { ...attrs, version: version.toString() }, [content])
    },
  )
  return [node('sync', {}, answers)]
}

/** A file to download. */
function snapshotOf(network: Network, phone: Phone): Uint8Array {
  const { keyId, record, version, snapshotMac } = sealState(network, phone)
  const snapshot = proto.SyncdSnapshot.encode({
    version,
    records: [record],
    mac: snapshotMac,
    keyId,
  }).finish()
  const file = sealFile(network.media, 'md-app-state', snapshot)
  return proto.ExternalBlobReference.encode(file).finish()
}

/** Only the last change: the salts before it are of no use. */
function patchOf(network: Network, phone: Phone): Uint8Array {
  const { keyId, keys, record, version, valueMac, snapshotMac } = sealState(network, phone)
  const patchMac = hmac(keys.patchMac, snapshotMac, valueMac, uint64(phone.saltsRenewed), collection)
  const mutations = [{ operation: proto.SyncdMutation.SyncdOperation.SET, record }]
  return proto.SyncdPatch.encode({ version, mutations, snapshotMac, patchMac, keyId }).finish()
}

function sealState(network: Network, phone: Phone) {
  const { id, data } = appStateKey(phone)
  const keys = expand(data)
  const salt = lengthDelimited(saltField, saltOf(network, phone))
  const value = lengthDelimited(2, lengthDelimited(saltActionField, salt))
  const plaintext = Buffer.concat([lengthDelimited(1, saltIndex), value, Buffer.from([4 << 3, 1])])
  const iv = randomBytes(16)
  const cipher = createCipheriv('aes-256-cbc', keys.value, iv)
  const encrypted = Buffer.concat([iv, cipher.update(plaintext), cipher.final()])
  const valueMac = createHmac('sha512', keys.valueMac)
    .update(Buffer.from([1]))
    .update(id)
    .update(encrypted)
    .update(uint64(id.length + 1))
    .digest()
    .subarray(0, 32)
  // The hash of a state with a single value is its expansion.
  const stateHash = Buffer.from(hkdfSync('sha256', valueMac, '', 'WhatsApp Patch Integrity', 128))
  return {
    keys,
    keyId: { id },
    version: { version: phone.saltsRenewed },
    record: {
      index: { blob: hmac(keys.index, saltIndex) },
      value: { blob: Buffer.concat([encrypted, valueMac]) },
      keyId: { id },
    },
    valueMac,
    snapshotMac: hmac(keys.snapshotMac, stateHash, uint64(phone.saltsRenewed), collection),
  }
}

function expand(data: Buffer) {
  const bytes = Buffer.from(hkdfSync('sha256', data, '', 'WhatsApp Mutation Keys', 160))
  const part = (index: number) => bytes.subarray(index * 32, (index + 1) * 32)
  return { index: part(0), value: part(1), valueMac: part(2), snapshotMac: part(3), patchMac: part(4) }
}

function hmac(key: Buffer, ...parts: (Buffer | string)[]): Buffer {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest()
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}
