import type { Database } from '@wagate/db/client'
import { databaseFailure } from '@wagate/db/failures'
import type { Consent } from '@wagate/db/queries/contacts/consent-steps'
import type { NewReceivedMedia } from '@wagate/db/queries/media/received-media-rows'
import { findUnavailable } from '@wagate/db/queries/messages/received-messages'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import type { Logger } from '@wagate/runtime/logger'
import { bareWord } from '@wagate/shared/bare-word'
import { lidOf } from '@wagate/shared/contact-key'
import { makeMessageId } from '@wagate/shared/ids'
import { kindOf } from '@wagate/shared/message-kinds'
import type { Config } from '../../config/config.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Lease } from '../../ownership/lease.ts'
import type { DeviceContacts } from '../contacts/device-contacts.ts'
import type { Persist } from '../credentials/persistence.ts'
import type { Vault } from '../credentials/vault.ts'
import type { MediaDescriptor } from './media-descriptor.ts'
import { sealMediaSource } from './media-source.ts'
import type { Received } from './received.ts'
import type { ReceivedWrites } from './received-writes.ts'

type ReceivingDevice = {
  id: number
  accountId: number
  sender: string
  linkGeneration: number
  lease: Lease
  vault: Vault
  contacts: Pick<DeviceContacts, 'note'>
}

type Context = {
  db: Database
  receivedWrites: ReceivedWrites
  publishEventHint(accountId: number): void
  metrics: Metrics
  logger: Logger
  config: Pick<Config, 'consentWords' | 'receivedMedia' | 'media'>
  /** A message with a file was stored. */
  onMedia(): void
}

/**
 * Stores a message from a contact. If Postgres refuses it permanently, it is stored without its text, so that WhatsApp
 * does not deliver it again and delay others. Throws OwnershipLost and the errors with which `persist` gives up.
 */
export async function storeReceived(
  { db, receivedWrites, publishEventHint, metrics, logger, config, onMedia }: Context,
  { lease, vault, contacts, ...device }: ReceivingDevice,
  received: Received,
  persist: Persist,
): Promise<void> {
  const owned = { fence: lease, accountId: device.accountId, deviceId: device.id, sender: device.sender }
  const consent = askedConsent(received, config.consentWords)
  const known = received.isResent ? await persist(() => findUnavailable(db, device.id, received)) : undefined
  const id = known ?? makeMessageId(device.sender)
  const added = { id, linkGeneration: device.linkGeneration, consent, isReplacement: known !== undefined }
  const limits = { isEnabled: config.receivedMedia.isEnabled, bytesMax: config.media.bytesMax }
  const file = 'kind' in received ? undefined : received.media
  const media = file && newReceivedMedia(file, added.id, vault, limits)

  async function store(form: Received): Promise<void> {
    const row =
      'kind' in form ? { ...form, ...owned } : { ...form, ...owned, ...added, media: form.media && media }
    const lost = await persist(() => receivedWrites.add(row))
    if (lost) throw lost
    if (!form.writtenOn) metrics.received.inc()
    if ('unavailable' in row && row.unavailable) metrics.receivedUnavailable.inc({ reason: row.unavailable })
    publishEventHint(device.accountId)
  }

  const { contactJid } = received
  const hasLid = lidOf(contactJid) !== null
  // Before the message, which is stored under the number that is known then.
  if (contactJid && hasLid) await persist(() => contacts.note({ ...received, lidJid: contactJid }))
  if (consent && received.number === null && !hasLid) {
    logger.warn({ deviceId: device.id, consent }, 'A contact without a number and a LID cannot opt out or in')
  }
  if (received.isCleaned) reportCleaned()
  try {
    await store(received)
    if (media) onMedia()
  } catch (error) {
    if (error instanceof OwnershipLost || databaseFailure(error)) throw error
    reportCleaned(error)
    const { waId, number, contactJid, writtenOn } = received
    const rest = { type: 'other', body: null, content: null, quoted: null, isCleaned: true } as const
    await store({ waId, number, contactJid, writtenOn, ...rest }).catch(reportDropped)
  }

  function reportCleaned(error?: unknown): void {
    metrics.receivedCleaned.inc()
    logger.warn(
      { err: error, deviceId: device.id },
      'Stored a received message without the parts that cannot be stored',
    )
  }

  function reportDropped(error: unknown): void {
    if (error instanceof OwnershipLost || databaseFailure(error)) throw error
    metrics.receivedDropped.inc()
    logger.error({ err: error, deviceId: device.id }, 'Dropped a received message that cannot be stored')
  }
}

/** Without what `bareWord` leaves out. */
export type ConsentWords = { optOut: readonly string[]; optIn: readonly string[] }

/** What the whole text of a message asks for, if it is one of the words. */
export function askedConsent(received: Received, words: ConsentWords): Consent | null {
  if ('kind' in received || received.writtenOn) return null
  if (!kindOf(received.type).mayAskConsent || received.body === null) return null
  const text = bareWord(received.body)
  if (text === undefined) return null
  if (words.optOut.includes(text)) return 'opt-out'
  return words.optIn.includes(text) ? 'opt-in' : null
}

type Limits = Pick<Config['receivedMedia'], 'isEnabled'> & Pick<Config['media'], 'bytesMax'>

/** How the file of a message begins: to be downloaded, or never. */
export function newReceivedMedia(
  { kind, source, ...facts }: MediaDescriptor,
  messageId: string,
  vault: Vault,
  { isEnabled, bytesMax }: Limits,
): NewReceivedMedia {
  if (!isEnabled) return { ...facts, state: 'unavailable', reason: 'disabled' }
  if (!source) return { ...facts, state: 'unavailable', reason: 'download_failed' }
  if ((facts.size ?? 0) > bytesMax[kind]) return { ...facts, state: 'unavailable', reason: 'too_large' }
  return { ...facts, state: 'pending', sealed: sealMediaSource(vault, messageId, source) }
}
