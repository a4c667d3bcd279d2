import { kindOf } from '@wagate/shared/message-kinds'
import { isJidGroup, type proto, type WAMessageKey } from 'baileys'
import { accountJid } from '../contacts/jids.ts'
import { makeCleaner } from './cleaner.ts'
import { optionCharsMax, optionsMax, pollOf } from './kinds/common-kinds.ts'
import { readKind } from './kinds/find-kind.ts'
import { unwrap } from './kinds/unwrap.ts'
import { cleanId } from './received-source.ts'

/** The secret of a message that a vote or an edit may need. A vote names the options by their hashes. */
export type KeptSecret = { of: 'poll' | 'text'; id: string; value: MessageSecret }

/** `secret` in base64. */
export type MessageSecret = { secret: string; options: string[] }

/** Undefined for a message of which nothing must be kept. `content` is a message to or from a contact. */
export function secretOf(key: WAMessageKey, content: proto.IMessage): KeptSecret | undefined {
  const { id, remoteJid, fromMe } = key
  const inner = unwrap(content)
  const bytes = (content.messageContextInfo ?? inner?.messageContextInfo)?.messageSecret
  if (!inner || bytes?.length !== 32 || !id || !remoteJid || isJidGroup(remoteJid)) return undefined
  const secret = Buffer.from(bytes).toString('base64')
  const keptAs = secretId(fromMe ? 'me' : accountJid(remoteJid), id)
  const options = pollOf(inner)?.options?.map(({ optionName }) => optionName ?? '')
  if (options) {
    const isModest =
      options.length <= optionsMax && options.every((option) => option.length <= optionCharsMax)
    return isModest ? { of: 'poll', id: keptAs, value: { secret, options } } : undefined
  }
  const type = readKind(inner, makeCleaner())?.type
  const isEditable = type !== undefined && kindOf(type).isEditable
  return isEditable ? { of: 'text', id: keptAs, value: { secret, options: [] } } : undefined
}

/** Clients choose their ids, so the author is part of it. */
export function secretId(author: string, waId: string): string {
  return `${author}|${cleanId(waId)}`
}
