import type { Database } from '@wagate/db/client'
import { isAccountEnabled } from '@wagate/db/queries/accounts/accounts'
import { getMediaLinkKey } from '@wagate/db/queries/statements/installation'
import { type LinkedMedia, makeMediaLinker, openMediaLink } from '@wagate/shared/media-links'
import type { MediaLinker } from '@wagate/shared/objects/media-object'

/** Signed links to the files of received messages. */
export type MediaLinks = {
  getLinker(): Promise<MediaLinker>
  /** Undefined for a link that is not valid, or no longer, or whose account is disabled. */
  open(query: { id: string; expires: string; signature: string }): Promise<LinkedMedia | undefined>
}

/** All processes of an installation use the same key. `publicUrl`: undefined for links without a host. */
export function makeMediaLinks(db: Database, publicUrl: string | undefined): MediaLinks {
  let known: Buffer | undefined

  async function getKey(): Promise<Buffer> {
    known ??= await getMediaLinkKey(db)
    return known
  }

  return {
    getLinker: async () => makeMediaLinker(await getKey(), publicUrl),
    async open(query) {
      const linked = openMediaLink(await getKey(), query)
      return linked && (await isAccountEnabled(db, linked.accountId)) ? linked : undefined
    },
  }
}
