import { proto } from 'baileys'
import { sealFile } from '../handset/seal-file.ts'
import { saltOf } from '../network/account-salt.ts'
import { type AppStatePatch, patchesOf } from '../network/app-state.ts'
import { serverJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import { notify } from '../network/notify.ts'
import type { Phone } from '../network/phone.ts'
import { children, type Node, type NodeContent, node } from '../wire/node.ts'
import { lengthDelimited } from '../wire/protobuf.ts'
import type { IqCall } from './iq-call.ts'
import { type SealedCollection, type SealedPatch, sealCollection } from './seal-app-state.ts'

/** Fields of SyncActionValue and NctSaltSyncAction, which the protocol of Baileys lacks. */
const [saltActionField, saltField] = [80, 1]
const patchesMax = 50
/** A patch with more is a file to download. */
const inlineMutationsMax = 20

/** The person changes settings on the phone, and its companions fetch them. */
export function changeSettings(network: Network, phone: Phone, patch: AppStatePatch): void {
  phone.appState.push(patch)
  network.state.save(phone)
  const { collection } = patch
  const version = patchesOf(phone.appState, collection).length.toString()
  const changed = node('collection', { name: collection, version })
  for (const device of phone.devices.values())
    notify(device, { from: serverJid, type: 'server_sync' }, [changed])
}

/** WhatsApp gives the account another salt. The first one comes with the history. */
export function renewSalt(network: Network, phone: Phone): void {
  phone.saltsRenewed += 1
  const value = lengthDelimited(saltActionField, lengthDelimited(saltField, saltOf(network, phone)))
  changeSettings(network, phone, {
    collection: 'regular_high',
    settings: [{ index: ['nct_salt_sync'], value }],
  })
}

/** Tells the versions that a companion does not have: all together if it has none, else change by change. */
export function answerAppState({ network, device: { phone } }: IqCall, query: Node | undefined): NodeContent {
  const answers = children(query, 'collection').map(({ attrs: { name = '', version, return_snapshot } }) => {
    const known = Number(version)
    const patches = patchesOf(phone.appState, name)
    if (known >= patches.length) return node('collection', { name, version, type: 'result' })
    const sealed = sealCollection(phone, name, patches)
    if (return_snapshot === 'true') {
      const attrs = { name, type: 'result', version: patches.length.toString() }
      return node('collection', attrs, [node('snapshot', {}, snapshotOf(network, sealed))])
    }
    const last = Math.min(known + patchesMax, patches.length)
    const due = sealed.patches
      .slice(known, last)
      .map((patch, at) => node('patch', {}, patchOf(network, sealed.keyId, known + at + 1, patch)))
    const has_more_patches = last < patches.length ? 'true' : undefined
    const attrs = { name, type: 'result', version: last.toString(), has_more_patches }
    return node('collection', attrs, [node('patches', {}, due)])
  })
  return [node('sync', {}, answers)]
}

/** A file to download. */
function snapshotOf({ media }: Network, sealed: SealedCollection): Uint8Array {
  const { keyId, records, snapshotMac, patches } = sealed
  const snapshot = { version: { version: patches.length }, records, mac: snapshotMac, keyId }
  const file = sealFile(media, 'md-app-state', proto.SyncdSnapshot.encode(snapshot).finish())
  return proto.ExternalBlobReference.encode(file).finish()
}

function patchOf({ media }: Network, keyId: proto.IKeyId, version: number, patch: SealedPatch): Uint8Array {
  const { mutations, snapshotMac, patchMac } = patch
  const isFile = mutations.length > inlineMutationsMax
  const file = isFile && sealFile(media, 'md-app-state', proto.SyncdMutations.encode({ mutations }).finish())
  return proto.SyncdPatch.encode({
    ...{ version: { version }, snapshotMac, patchMac, keyId },
    ...(file ? { externalMutations: file } : { mutations }),
  }).finish()
}
