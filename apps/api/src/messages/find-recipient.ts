import type { Database } from '@wagate/db/client'
import { findContact } from '@wagate/db/queries/contacts/known-contacts'
import { findQuotable } from '@wagate/db/queries/messages/quotable-message'
import { lidKey } from '@wagate/shared/contact-key'
import type { QuotedMessage } from '@wagate/shared/objects/message-content'
import { AppError } from '../errors/app-error.ts'
import { type GivenContact, refuseBoth } from '../parameters/recipient.ts'

type RecipientCall = { context: { db: Database }; principal: { accountId: number } }
type Addressed = GivenContact & { sender: string; reply_to?: string | undefined }

/** `number` and `lidJid` are both null for a message that has a `fault`. */
type Recipient = {
  number: string | null
  lidJid: string | null
  quoted: QuotedMessage | null
  /** There is no message to quote in this chat. */
  fault?: AppError
}

/** Whom a message goes to, by its number, its LID, or the message that it answers, and what it quotes. */
export async function findRecipient(call: RecipientCall, given: Addressed): Promise<Recipient> {
  refuseBoth(given)
  const { number = null, lid, reply_to: replyTo } = given
  const lidJid = lid === undefined ? null : lidKey(lid)
  if (replyTo !== undefined) return findReply(call, { sender: given.sender, number, lidJid, id: replyTo })
  return { number, lidJid, quoted: null }
}

async function findReply(
  { context: { db }, principal: { accountId } }: RecipientCall,
  { sender, number, lidJid, id }: Omit<Recipient, 'quoted'> & { sender: string; id: string },
): Promise<Recipient> {
  const key = lidJid ?? number
  const known = key === null ? undefined : await findContact(db, accountId, key)
  const contact = known && { key: known.key, lidJid: known.lid === null ? null : lidKey(known.lid) }
  const found = await findQuotable(db, accountId, { sender, contact, id })
  if (!found) {
    const sentence = 'There is no message with the ID in reply_to between this sender and this recipient.'
    return { number, lidJid, quoted: null, fault: new AppError('message_not_found', sentence) }
  }
  if (contact) return { number, lidJid, quoted: found.quoted }
  // Where the contact has its LID, the answer goes there: a number may belong to another person by now.
  return found.lidJid
    ? { number: null, lidJid: found.lidJid, quoted: found.quoted }
    : { number: found.contactKey, lidJid: null, quoted: found.quoted }
}
