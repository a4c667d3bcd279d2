import { createCipheriv, createHmac, hkdfSync } from 'node:crypto'
import { proto } from 'baileys'
import type { AppStatePatch, Setting } from '../network/app-state.ts'
import type { Phone } from '../network/phone.ts'
import { lengthDelimited } from '../wire/protobuf.ts'

/** Of SyncActionData. Clients do not look at it. */
const settingVersion = Buffer.from([4 << 3, 2])
const hashBytes = 128

const { SET, REMOVE } = proto.SyncdMutation.SyncdOperation

/** The key with which a phone encrypts its app state for its companions. Derived, so it needs no storage. */
export function appStateKey({ identity }: Phone): { id: Buffer; data: Buffer } {
  const derive = (what: string) => createHmac('sha256', identity.seed).update(what).digest()
  return {
    id: Buffer.concat([Buffer.from([0, 0]), derive('app state key id').subarray(0, 4)]),
    data: derive('app state key'),
  }
}

type Sealed = { mutation: proto.ISyncdMutation; index: string; valueMac: Buffer }
/** A change that made a version. */
export type SealedPatch = { mutations: proto.ISyncdMutation[]; snapshotMac: Buffer; patchMac: Buffer }

/** A collection after all of its patches, encrypted, with the codes by which clients check it. */
export type SealedCollection = {
  keyId: proto.IKeyId
  records: proto.ISyncdRecord[]
  snapshotMac: Buffer
  patches: SealedPatch[]
}

export function sealCollection(phone: Phone, name: string, patches: AppStatePatch[]): SealedCollection {
  const { id, data } = appStateKey(phone)
  const keys = expand(data)
  const current = new Map<string, Sealed>()
  const hash = new Uint16Array(hashBytes / 2)
  const sealed = patches.map(({ settings }, at): SealedPatch => {
    const version = at + 1
    const mutations = settings.map((setting) => seal(setting, { id, keys, salt: `${name} ${version}` }))
    for (const one of mutations) {
      mix(hash, current.get(one.index), -1)
      current.delete(one.index)
      if (one.mutation.operation === REMOVE) continue
      mix(hash, one, 1)
      current.set(one.index, one)
    }
    const state = Buffer.from(hash.buffer.slice(0))
    const snapshotMac = hmac(keys.snapshotMac, state, uint64(version), name)
    const valueMacs = mutations.map(({ valueMac }) => valueMac)
    const patchMac = hmac(keys.patchMac, snapshotMac, ...valueMacs, uint64(version), name)
    return { mutations: mutations.map(({ mutation }) => mutation), snapshotMac, patchMac }
  })
  const records = [...current.values()].flatMap(({ mutation }) => mutation.record ?? [])
  return {
    keyId: { id },
    records,
    snapshotMac: sealed.at(-1)?.snapshotMac ?? Buffer.alloc(0),
    patches: sealed,
  }
}

type Keys = ReturnType<typeof expand>

/** The same each time, because a code of the whole state follows from it. */
function seal(
  { index, value }: Setting,
  { id, keys, salt }: { id: Buffer; keys: Keys; salt: string },
): Sealed {
  const indexBytes = Buffer.from(JSON.stringify(index))
  const content = value ? [lengthDelimited(2, value)] : []
  const plaintext = Buffer.concat([lengthDelimited(1, indexBytes), ...content, settingVersion])
  const iv = hmac(keys.index, salt, indexBytes).subarray(0, 16)
  const cipher = createCipheriv('aes-256-cbc', keys.value, iv)
  const encrypted = Buffer.concat([iv, cipher.update(plaintext), cipher.final()])
  const operation = value ? SET : REMOVE
  const valueMac = createHmac('sha512', keys.valueMac)
    .update(Buffer.from([operation + 1]))
    .update(id)
    .update(encrypted)
    .update(uint64(id.length + 1))
    .digest()
    .subarray(0, 32)
  const record = {
    index: { blob: hmac(keys.index, indexBytes) },
    value: { blob: Buffer.concat([encrypted, valueMac]) },
    keyId: { id },
  }
  return { mutation: { operation, record }, index: JSON.stringify(index), valueMac }
}

/** The hash of a state is the sum of the hashes of its values, word by word. */
function mix(hash: Uint16Array, value: Sealed | undefined, sign: 1 | -1): void {
  if (!value) return
  const expanded = hkdfSync('sha256', value.valueMac, '', 'WhatsApp Patch Integrity', hashBytes)
  new Uint16Array(expanded).forEach((word, at) => {
    hash[at] = (hash[at] ?? 0) + sign * word
  })
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
