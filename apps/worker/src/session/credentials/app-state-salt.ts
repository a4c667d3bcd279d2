import { createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import {
  type BinaryNode,
  downloadExternalPatch,
  extractSyncdPatches,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  proto,
  type SignalKeyStore,
  type UserFacingSocketConfig,
  type WASocket,
} from 'baileys'
import { readBytesField } from './protobuf-field.ts'

const collectionName = 'regular_high'
const saltIndex = JSON.stringify(['nct_salt_sync'])
/** SyncActionData, SyncActionValue and NctSaltSyncAction. Baileys does not know the second one. */
const saltPath = [2, 80, 1]
const macBytes = 32
const ivBytes = 16

const { SyncdOperation } = proto.SyncdMutation
type Mutation = { operation?: proto.SyncdMutation.SyncdOperation | null; record?: proto.ISyncdRecord | null }

/** How the socket reaches WhatsApp's files. */
type DownloadOptions = NonNullable<UserFacingSocketConfig['options']>

/**
 * Calls back with the salt of the account when the app state brings one, undefined when it was removed. Baileys decodes
 * the same answers, and drops what it does not know.
 */
export function onAppStateSalt(
  sock: WASocket,
  { keys, options }: { keys: Pick<SignalKeyStore, 'get'>; options: DownloadOptions },
  handle: (salt: Uint8Array | undefined) => Promise<void>,
  onError: (error: unknown) => void,
): void {
  ignoreOtherChanges(sock)
  let handled: Promise<unknown> = Promise.resolve()
  sock.ws.on('CB:iq,type:result,sync', (node: BinaryNode) => {
    const collection = saltCollection(node)
    if (!collection) return
    handled = handled
      .then(async () => {
        const found = await findSalt(await mutationsOf(collection, options), keys)
        if (found) await handle(found.salt)
      })
      .catch(onError)
  })
}

/**
 * Keeps Baileys from fetching the other settings of the person, such as contacts: it would store a list of all of them with
 * each change.
 */
function ignoreOtherChanges({ ws }: WASocket): void {
  // Emitted before the event that Baileys listens to.
  ws.on('CB:notification,type:server_sync', (node: BinaryNode) => {
    if (!Array.isArray(node.content)) return
    node.content = node.content.filter(({ attrs }) => attrs.name === collectionName)
  })
}

/** The answer without the other collections: Baileys downloads what they refer to. */
function saltCollection(node: BinaryNode): BinaryNode | undefined {
  const sync = getBinaryNodeChild(node, 'sync')
  const content = getBinaryNodeChildren(sync, 'collection').filter(
    ({ attrs, content }) => attrs.name === collectionName && Array.isArray(content) && content.length > 0,
  )
  return content.length > 0 ? { ...node, content: [{ tag: 'sync', attrs: {}, content }] } : undefined
}

async function mutationsOf(node: BinaryNode, options: DownloadOptions): Promise<Mutation[]> {
  const { [collectionName]: state } = await extractSyncdPatches(structuredClone(node), options)
  const records = state?.snapshot?.records ?? []
  const mutations: Mutation[] = records.map((record) => ({ operation: SyncdOperation.SET, record }))
  for (const patch of state?.patches ?? []) {
    const external =
      patch.externalMutations && (await downloadExternalPatch(patch.externalMutations, options))
    mutations.push(...(patch.mutations ?? []), ...(external?.mutations ?? []))
  }
  return mutations
}

/** The last change of the salt. Undefined when there is none, or no key for it: then Baileys asks again. */
async function findSalt(
  mutations: Mutation[],
  keys: Pick<SignalKeyStore, 'get'>,
): Promise<{ salt: Uint8Array | undefined } | undefined> {
  const expanded = new Map<string, ReturnType<typeof expandKey> | undefined>()

  async function keyOf(id: Buffer) {
    const name = id.toString('base64')
    if (!expanded.has(name)) {
      const { [name]: key } = await keys.get('app-state-sync-key', [name])
      expanded.set(name, key?.keyData ? expandKey(key.keyData) : undefined)
    }
    return expanded.get(name)
  }

  for (const { operation, record } of mutations.reverse()) {
    const [keyId, blob] = [record?.keyId?.id, record?.value?.blob]
    const key = keyId && (await keyOf(Buffer.from(keyId)))
    if (!key || !blob || blob.length <= ivBytes + macBytes) continue
    const isRemoval = operation === SyncdOperation.REMOVE
    const data = open({ ...key, keyId: Buffer.from(keyId), blob: Buffer.from(blob), isRemoval })
    const index = data && readBytesField(data, 1)
    if (!data || !index || Buffer.from(index).toString() !== saltIndex) continue
    return { salt: isRemoval ? undefined : readPath(data, saltPath) }
  }
  return undefined
}

function expandKey(keyData: Uint8Array): { valueKey: Buffer; macKey: Buffer } {
  const bytes = Buffer.from(hkdfSync('sha256', keyData, '', 'WhatsApp Mutation Keys', 160))
  return { valueKey: bytes.subarray(32, 64), macKey: bytes.subarray(64, 96) }
}

type Sealed = ReturnType<typeof expandKey> & { keyId: Buffer; blob: Buffer; isRemoval: boolean }

/** Undefined for a value that its authentication code does not belong to. */
function open({ valueKey, macKey, keyId, blob, isRemoval }: Sealed): Buffer | undefined {
  const encrypted = blob.subarray(0, -macBytes)
  const length = Buffer.alloc(8)
  length.writeUInt8(keyId.length + 1, 7)
  const mac = createHmac('sha512', macKey)
    .update(Buffer.of(isRemoval ? 2 : 1))
    .update(keyId)
    .update(encrypted)
    .update(length)
    .digest()
  if (!timingSafeEqual(mac.subarray(0, macBytes), blob.subarray(-macBytes))) return undefined
  const decipher = createDecipheriv('aes-256-cbc', valueKey, encrypted.subarray(0, ivBytes))
  return Buffer.concat([decipher.update(encrypted.subarray(ivBytes)), decipher.final()])
}

function readPath(message: Uint8Array, path: number[]): Uint8Array | undefined {
  return path.reduce<Uint8Array | undefined>((outer, field) => outer && readBytesField(outer, field), message)
}
