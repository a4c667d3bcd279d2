import type { Database } from '@wagate/db/client'
import {
  deleteMasterKeys,
  listWorkersWithOtherKeys,
  recordMasterKey,
} from '@wagate/db/queries/credentials/master-keys'
import {
  type AuthKey,
  type ContentKey,
  listAuthSealedByOthers,
  listContentsSealedByOthers,
  listMediaSealedByOthers,
  listProxiesSealedByOthers,
  listWebhookSecretsSealedByOthers,
  type MediaKey,
  type ProxyOf,
  type Replacement,
  replaceAuth,
  replaceContents,
  replaceMedia,
  replaceProxies,
  replaceWebhookSecrets,
  type SealedPage,
  type WebhookSecretKey,
} from '@wagate/db/queries/credentials/sealed-values'
import { proxyContext } from '@wagate/shared/proxy-url'
import { sealBox } from '@wagate/shared/sealed-box'
import { webhookSecretContext } from '@wagate/shared/webhook-signature'
import type { MasterKeys } from '../config/master-keys.ts'
import { authContext, makeVault, uploadContext, type Vault } from '../session/credentials/vault.ts'
import { openProxyBox, openWebhookSecret, proxyBoxKey } from '../session/network/proxy-box.ts'
import { mediaContext } from '../session/receiving/media-source.ts'

export type Rotation = {
  replaced: number
  /** The number of values that could not be opened, by reason: their master key is unknown, or they are damaged. */
  unreadable: Map<string, number>
  /** Workers that still encrypt with another key. */
  others: { name: string; masterKeyId: string }[]
  /** No value is encrypted with another key, and no worker will write one. */
  isComplete: boolean
}

type Options = {
  onProgress(progress: { scanned: number; replaced: number }): void
  /** Ends the rotation between two pages; it can be started again at any time. */
  signal?: AbortSignal
}

/** A page is scanned again if its owner was writing at the same time. */
const passesMax = 5

/** Re-encrypts values of other master keys with the current one, while workers read and write them. */
export async function rotateMasterKeys(
  db: Database,
  masterKeys: MasterKeys,
  { onProgress, signal }: Options,
): Promise<Rotation> {
  const { current } = masterKeys
  const { publicKey } = proxyBoxKey(current)
  const vaults = new Map<number, Vault>()
  const unreadable = new Map<string, number>()
  let scanned = 0
  let replaced = 0
  let left = 0

  function vaultOf(deviceId: number): Vault {
    const vault = vaults.get(deviceId) ?? makeVault(masterKeys, deviceId)
    // Values are ordered by device, so only a few vaults are needed again.
    if (vaults.size > 1000) vaults.clear()
    vaults.set(deviceId, vault)
    return vault
  }

  function inVault<Key extends { deviceId: number }>(contextOf: (key: Key) => string) {
    return (key: Key, value: Buffer) => vaultOf(key.deviceId).reseal(value, contextOf(key))
  }

  const inBox = (opened: Buffer, context: string) => sealBox({ id: current.id, publicKey }, opened, context)

  function resealAll<Key>(
    { values }: SealedPage<Key>,
    reseal: (key: Key, value: Buffer) => Buffer,
  ): Replacement<Key>[] {
    return values.flatMap(({ key, value }) => {
      try {
        return [{ key, value, replacement: reseal(key, value) }]
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        unreadable.set(why, (unreadable.get(why) ?? 0) + 1)
        return []
      }
    })
  }

  async function passThrough<Key>(table: {
    list(after: Key | undefined): Promise<SealedPage<Key>>
    replace(replacements: Replacement<Key>[]): Promise<number>
    reseal(key: Key, value: Buffer): Buffer
  }): Promise<void> {
    let after: Key | undefined
    do {
      signal?.throwIfAborted()
      const page = await table.list(after)
      const replacements = resealAll(page, table.reseal)
      const done = replacements.length > 0 ? await table.replace(replacements) : 0
      replaced += done
      left += replacements.length - done
      scanned += page.scanned
      onProgress({ scanned, replaced })
      after = page.last
    } while (after)
  }

  await recordMasterKey(db, current.id, publicKey)
  for (let pass = 0; pass === 0 || (left > 0 && pass < passesMax); pass++) {
    left = 0
    unreadable.clear()
    await passThrough<AuthKey>({
      list: (after) => listAuthSealedByOthers(db, current.id, after),
      replace: (replacements) => replaceAuth(db, replacements),
      reseal: inVault(({ type, id }) => authContext(type, id)),
    })
    await passThrough<ContentKey>({
      list: (after) => listContentsSealedByOthers(db, current.id, after),
      replace: (replacements) => replaceContents(db, replacements),
      reseal: inVault(({ id }) => uploadContext(id)),
    })
    await passThrough<MediaKey>({
      list: (after) => listMediaSealedByOthers(db, current.id, after),
      replace: (replacements) => replaceMedia(db, replacements),
      reseal: inVault(({ messageId }) => mediaContext(messageId)),
    })
    await passThrough<ProxyOf>({
      list: (after) => listProxiesSealedByOthers(db, current.id, after),
      replace: (replacements) => replaceProxies(db, replacements),
      reseal: ({ deviceId }, value) =>
        inBox(openProxyBox(masterKeys, deviceId, value), proxyContext(deviceId)),
    })
    await passThrough<WebhookSecretKey>({
      list: (after) => listWebhookSecretsSealedByOthers(db, current.id, after),
      replace: (replacements) => replaceWebhookSecrets(db, replacements),
      reseal: ({ webhookId }, value) =>
        inBox(openWebhookSecret(masterKeys, webhookId, value), webhookSecretContext(webhookId)),
    })
  }

  const others = await listWorkersWithOtherKeys(db, current.id)
  const isComplete = left === 0 && unreadable.size === 0 && others.length === 0
  if (isComplete) await deleteMasterKeys(db, { except: [current.id] })
  return { replaced, unreadable, others, isComplete }
}
