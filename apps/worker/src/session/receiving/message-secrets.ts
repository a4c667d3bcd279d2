import { createHash } from 'node:crypto'
import { pollSecretType, textSecretType } from '@wagate/db/queries/credentials/device-auth'
import { proto, type WAMessageKey } from 'baileys'
import { z } from 'zod'
import { accountJid } from '../contacts/jids.ts'
import type { AuthStore } from '../credentials/auth-store.ts'
import type { Persist } from '../credentials/persistence.ts'
import { openWithSecret, type SealedContent, type SecretUse } from '../credentials/secret-cipher.ts'
import { type KeptSecret, type MessageSecret, secretId } from './kept-secret.ts'
import { unwrap } from './kinds/unwrap.ts'
import { readOwnSource, readSource } from './received-source.ts'

/** What contacts encrypt with secrets of earlier messages: votes and edits. */
export type MessageSecrets = {
  /** Resolves when it is stored. */
  keep(kept: KeptSecret): Promise<void>
  /** Returns the message as it is if it needs no secret, or if that is unknown. */
  open(key: WAMessageKey, content: proto.IMessage): Promise<Readable>
}

/** `chosen`: of a vote, the options. Null when the poll is unknown. */
type Readable = { content: proto.IMessage; chosen: string[] | null }

type Options = {
  auth: Pick<AuthStore, 'creds' | 'readOwn' | 'writeOwn'>
  keepsTexts: boolean
  persist: Persist
  /** Both addresses of a contact, as far as they are known. */
  findAddresses(key: WAMessageKey): Promise<string[]>
}

/** As `readOwn` returns them. */
const keptSecret = z.object({ secret: z.string(), options: z.array(z.string()) })

const typeOf = { poll: pollSecretType, text: textSecretType }

export function makeMessageSecrets({ auth, keepsTexts, persist, findAddresses }: Options): MessageSecrets {
  async function list(of: KeptSecret['of'], ids: string[]): Promise<MessageSecret[]> {
    const stored = await persist(() => auth.readOwn(typeOf[of], ids))
    return [...stored.values()].flatMap((value) => keptSecret.safeParse(value).data ?? [])
  }

  async function find(
    use: SecretUse,
    sealed: SealedContent,
    { key, target }: { key: WAMessageKey; target: proto.IMessageKey | null | undefined },
  ): Promise<{ opened: Buffer; options: string[] } | undefined> {
    const waId = target?.id
    if (!waId) return undefined
    const { id = '', lid } = auth.creds.me ?? {}
    const own = [id, lid ?? ''].flatMap((jid) => (jid ? [accountJid(jid)] : []))
    const contact = await findAddresses(key)
    // The key of the target is that of the phone that sends.
    const isOwnTarget = key.fromMe ? target.fromMe : !target.fromMe
    const [senders, authors] = [key.fromMe ? own : contact, isOwnTarget ? own : contact]
    const ids = (isOwnTarget ? ['me'] : contact).map((author) => secretId(author, waId))
    for (const { secret, options } of await list(use === 'Poll Vote' ? 'poll' : 'text', ids)) {
      const origin = {
        secret: Buffer.from(secret, 'base64'),
        waId,
        authors: authors.map(accountJid),
        senders,
      }
      const opened = openWithSecret(use, sealed, origin)
      if (opened) return { opened, options }
    }
    return undefined
  }

  return {
    async keep({ of, id, value }) {
      if (of === 'text' && !keepsTexts) return
      await persist(() => auth.writeOwn(typeOf[of], new Map([[id, value]])))
    },
    async open(key, content) {
      const { pollUpdateMessage: update, secretEncryptedMessage: sealed } = unwrap(content)
      const asItIs = { content, chosen: null }
      if (!readSource(key) && !readOwnSource(key, 'phone')) return asItIs
      if (update?.vote) {
        const target = update.pollCreationMessageKey
        const found = await find('Poll Vote', update.vote, { key, target })
        return found ? { content, chosen: optionsOf(found.opened, found.options) } : asItIs
      }
      if (sealed?.secretEncType !== proto.Message.SecretEncryptedMessage.SecretEncType.MESSAGE_EDIT) {
        return asItIs
      }
      const target = sealed.targetMessageKey
      const found = await find('Message Edit', sealed, { key, target })
      const edit = found && editOf(found.opened, target)
      return edit ? { content: edit, chosen: null } : asItIs
    },
  }
}

/** Null when the poll has no such options. */
function optionsOf(opened: Buffer, options: string[]): string[] | null {
  const selected = decode(proto.Message.PollVoteMessage, opened)?.selectedOptions
  const hashes = new Set(selected?.map((hash) => Buffer.from(hash).toString('hex')))
  const chosen = options.filter((option) => hashes.has(createHash('sha256').update(option).digest('hex')))
  return selected && chosen.length === hashes.size ? chosen : null
}

/** As a phone sends an edit that is not encrypted once more. */
function editOf(opened: Buffer, key: proto.IMessageKey | null | undefined): proto.IMessage | undefined {
  const message = decode(proto.Message, opened)
  const content = message && unwrap(message)
  if (!content || !key) return undefined
  const editedMessage = content.protocolMessage ? content.protocolMessage.editedMessage : content
  const { MESSAGE_EDIT: type } = proto.Message.ProtocolMessage.Type
  return editedMessage ? { protocolMessage: { key, type, editedMessage } } : undefined
}

function decode<Message>(type: { decode(bytes: Uint8Array): Message }, bytes: Buffer): Message | undefined {
  try {
    return type.decode(bytes)
  } catch {
    return undefined
  }
}
