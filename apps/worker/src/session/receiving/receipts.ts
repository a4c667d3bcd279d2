import type { MessageOutcome, OutcomeResult } from '@wagate/db/queries/messages/message-outcomes'
import type { PhoneRead } from '@wagate/db/queries/messages/phone-reads'
import type { PhoneReceipt, PhoneReceiptResult } from '@wagate/db/queries/messages/phone-receipts'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import type { NaturalBatch } from '@wagate/runtime/natural-batch'
import { messageIdOf } from '@wagate/shared/ids'
import {
  type BinaryNode,
  getBinaryNodeChildren,
  isLidUser,
  jidDecode,
  jidNormalizedUser,
  type WAMessageKey,
  type WASocket,
} from 'baileys'
import type { Lease } from '../../ownership/lease.ts'
import type { Persist } from '../credentials/persistence.ts'
import { intercept } from '../network/intercept.ts'
import { cleanId } from './received-source.ts'
import type { UnstoredStanzas } from './unstored-stanzas.ts'

/** What a recipient says about messages that this device sent. */
export type Receipt = {
  kind: 'delivered' | 'read' | 'played'
  waIds: string[]
  at: Date
  saidBy: { jid: string; otherJid: string | null }
}

/** `earlier` resolves when the messages that arrived before are stored, which it may be about. */
type Hooks = {
  onReceipt(receipt: Receipt, persist: Persist, earlier: Promise<unknown>): Promise<void>
  onPhoneRead(read: PhoneRead, persist: Persist): Promise<void>
}

/**
 * Stores receipts before it passes them on to Baileys, which acknowledges them: until then WhatsApp delivers a receipt
 * again. Baileys receives all of them in the order in which they arrived.
 */
export function storeReceiptsFirst(
  sock: WASocket,
  unstored: UnstoredStanzas,
  persist: Persist,
  hooks: Hooks,
): void {
  let passed: Promise<unknown> = Promise.resolve()
  intercept(sock.ws, 'CB:receipt', (node, passOn) => {
    const earlier = unstored.untilReleased()
    unstored.add(node)
    const stored = storeReceipt(node, earlier)
    passed = Promise.allSettled([stored, passed]).then(([{ status }]) => {
      unstored.release(node)
      if (status === 'fulfilled') void passOn()
    })
  })

  async function storeReceipt(node: BinaryNode, earlier: Promise<unknown>): Promise<void> {
    const chat = chatReadOnPhone(sock, node.attrs)
    if (chat) {
      await earlier
      const at = receiptTime(node.attrs).toISOString()
      return hooks.onPhoneRead(
        { waIds: receiptIds(node).map(cleanId), at, ...(await contactOf(sock, chat)) },
        persist,
      )
    }
    const kind = receiptKind(node.attrs)
    if (!kind) return
    const saidBy = await addressesOf(sock, node.attrs)
    const receipt = { kind, waIds: receiptIds(node), at: receiptTime(node.attrs), saidBy }
    await hooks.onReceipt(receipt, persist, earlier)
  }
}

/** The address of a contact whose messages were read on the phone of the account, which tells its other devices. */
function chatReadOnPhone(sock: WASocket, { from, type, recipient }: BinaryNode['attrs']): string | undefined {
  const { id, lid } = sock.authState.creds.me ?? {}
  const isOwn = [id, lid].some((own) => own && jidNormalizedUser(own) === jidNormalizedUser(from))
  return isOwn && (type === 'read-self' || type === 'read') ? recipient : undefined
}

async function contactOf(sock: WASocket, jid: string): Promise<Pick<PhoneRead, 'number' | 'contactJid'>> {
  const account = jidNormalizedUser(jid)
  if (!isLidUser(account)) return { number: jidDecode(account)?.user ?? null, contactJid: null }
  const phoneJid = await findPhoneJid(sock, account)
  return { number: jidDecode(phoneJid ?? undefined)?.user ?? null, contactJid: account }
}

/** A recipient may answer from its LID to a message that was sent to its phone number, and the other way round. */
async function addressesOf(
  sock: WASocket,
  { from, sender_pn, sender_lid, participant_pn, participant_lid }: BinaryNode['attrs'],
): Promise<Receipt['saidBy']> {
  const jid = jidNormalizedUser(from)
  const told = isLidUser(jid) ? (sender_pn ?? participant_pn) : (sender_lid ?? participant_lid)
  return { jid, otherJid: told ? jidNormalizedUser(told) : await findPhoneJid(sock, jid) }
}

/** Null for an address that is not a LID, and for a LID whose phone number is unknown. */
export async function findPhoneJid({ signalRepository }: WASocket, jid: string): Promise<string | null> {
  const found = isLidUser(jid) ? await signalRepository.lidMapping.getPNForLID(jid) : null
  return found ? jidNormalizedUser(found) : null
}

/** The address of a contact that a message names, and its other one if that is known. */
export async function findAddresses(
  { signalRepository: { lidMapping } }: WASocket,
  { remoteJid, remoteJidAlt }: WAMessageKey,
): Promise<string[]> {
  const jid = jidNormalizedUser(remoteJid ?? undefined)
  const other =
    remoteJidAlt ?? (isLidUser(jid) ? await lidMapping.getPNForLID(jid) : await lidMapping.getLIDForPN(jid))
  return other ? [jid, jidNormalizedUser(other)] : [jid]
}

/** Undefined for receipts that say nothing about the recipient: retry requests, and receipts of the sender's own devices. */
function receiptKind({ type, recipient }: BinaryNode['attrs']): Receipt['kind'] | undefined {
  if (recipient) return undefined
  if (type === undefined || type === '' || type === 'inactive') return 'delivered'
  return type === 'read' || type === 'played' ? type : undefined
}

/** WhatsApp gives whole seconds. The end of the second is used, so that no receipt seems older than its message. */
function receiptTime({ t }: BinaryNode['attrs']): Date {
  const seconds = Number(t)
  return new Date(seconds > 0 ? Math.min(Date.now(), seconds * 1000 + 999) : Date.now())
}

function receiptIds(node: BinaryNode): string[] {
  const first = Array.isArray(node.content) ? node.content[0] : undefined
  const items = first ? getBinaryNodeChildren(first, 'item') : []
  return [node.attrs.id, ...items.map(({ attrs }) => attrs.id)].filter((id) => id !== undefined)
}

type Context = {
  outcomes: Pick<NaturalBatch<MessageOutcome, OutcomeResult>, 'addDeferred'>
  /** Undefined when what the owner does on the phone is left out. */
  phoneReceipts: Pick<NaturalBatch<PhoneReceipt, PhoneReceiptResult>, 'add'> | undefined
  publishEventHint(accountId: number): void
}

type Device = {
  id: number
  accountId: number
  sender: string
  lease: Lease
  /** Of the latest messages, by WhatsApp id. */
  sentRecipients: { find(waId: string): string | undefined }
}

/**
 * Resolves when the receipt is stored. Throws OwnershipLost. A message that this device did not send may be one that was
 * written on the phone.
 */
export async function storeReceipt(
  { outcomes, phoneReceipts, publishEventHint }: Context,
  { id: deviceId, accountId, sender, lease, sentRecipients }: Device,
  { kind, waIds, at, saidBy }: Receipt,
  { persist, earlier }: { persist: Persist; earlier: Promise<unknown> },
): Promise<void> {
  const outcome = { fence: lease, deviceId, status: kind, at: at.toISOString(), saidBy }

  /** Returns whether a message of the gateway has it. */
  async function storeOutcome(waId: string): Promise<boolean> {
    const messageId = messageIdOf(waId, sender)
    if (!messageId) return false
    const row = { ...outcome, messageId, recipientJid: sentRecipients.find(waId) ?? null }
    return withOwner(await persist(() => outcomes.addDeferred(row))) !== 'unknown'
  }

  const areOutcomes = await Promise.all(waIds.map(storeOutcome))
  const others = waIds.filter((_, index) => !areOutcomes[index])
  if (phoneReceipts && others.length > 0) {
    await earlier
    const rows = others.map((waId) => ({ ...outcome, waId: cleanId(waId) }))
    const results = await Promise.all(rows.map((row) => persist(() => phoneReceipts.add(row))))
    results.map(withOwner)
  }
  if (others.length < waIds.length) publishEventHint(accountId)
}

function withOwner<Result>(result: Result | OwnershipLost): Result {
  if (result instanceof OwnershipLost) throw result
  return result
}
