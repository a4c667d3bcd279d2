import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { recordPhoneRead } from '@wagate/db/queries/messages/phone-reads'
import { isReceived } from '@wagate/db/queries/messages/received-messages'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import type { Logger } from '@wagate/runtime/logger'
import type { Scope } from '../caches/scoped-cache.ts'
import { findContentToResend } from '../outbox/content.ts'
import type { SentRecipients } from '../outbox/outbox-context.ts'
import type { Lease } from '../ownership/lease.ts'
import { openSession, type Session, type SessionHooks } from '../session/connection/session.ts'
import type { SocketOptions } from '../session/connection/socket.ts'
import type { DeviceContacts } from '../session/contacts/device-contacts.ts'
import { accountJid } from '../session/contacts/jids.ts'
import type { AuthStore } from '../session/credentials/auth-store.ts'
import type { Vault } from '../session/credentials/vault.ts'
import { findPhoneJid, type Receipt, storeReceipt } from '../session/receiving/receipts.ts'
import { storeReceived } from '../session/receiving/store-received.ts'
import { untilStored } from '../statements/until-stored.ts'
import type { DeviceContext } from './device-context.ts'
import { completePairing, replaceQr, showQr } from './pairing.ts'

type SessionOf = {
  state: DeviceState
  network: SocketOptions['network']
  lease: Lease
  auth: AuthStore
  contacts: DeviceContacts
  vault: Vault
  retryCounts: Scope
  sentRecipients: SentRecipients
  logger: Logger
}

/** Opens a session of a device, and stores what it shows, links and receives. The caller decides what follows. */
export function openDeviceSession(
  context: DeviceContext,
  { state, network, lease, auth, contacts, vault, retryCounts, sentRecipients, logger }: SessionOf,
  hooks: Pick<
    SessionHooks,
    'onOpen' | 'onOutcome' | 'onRestrictions' | 'onClosed' | 'onError' | 'onPasskeyAsked'
  > & {
    onQrShown(): void
    onScanned(): void
    /** The receipt is stored. */
    onReceipt(receipt: Receipt): void
  },
): Session {
  const { statements, media, publishEventHint } = context
  const device = { ...state, lease, sentRecipients, vault, contacts }
  const records = context.config.recordsPhoneActivity
  const receipts = {
    outcomes: statements.outcomes,
    phoneReceipts: records ? statements.phoneReceipts : undefined,
    publishEventHint,
  }
  const receiving = { ...context, receivedWrites: statements.receivedWrites, onMedia: media.arrivals.note }

  /** Baileys swallows errors while it handles a stanza. */
  function reportLoss(error: unknown): never {
    if (error instanceof OwnershipLost) context.onLost(error)
    throw error
  }

  const session = openSession(
    {
      ...context,
      deviceId: state.id,
      network,
      auth,
      retryCounts,
      keepsEditSecrets: context.config.housekeeping.editSecretDays > 0,
      keepAliveMs: context.config.whatsApp.keepAliveMs,
      sendsColdTokens: context.config.whatsApp.sendsColdTokens,
      mayLogIn: lease.isValid,
      async getMessage({ id, remoteJid }) {
        const askedBy = await addressesOf(remoteJid ?? '')
        return findContentToResend(context.db, { vault, creds: auth.creds }, state, id, askedBy)
      },
    },
    {
      ...hooks,
      async onQr(code) {
        await showQr(context, device, code)
        hooks.onQrShown()
      },
      async onQrRetired(code) {
        if (code) await replaceQr(context, device, code).catch(reportLoss)
        context.metrics.linkingRefreshes.inc()
        logger.info('WhatsApp has retired the secret of the QR code, and there is a new one')
      },
      async onPaired() {
        hooks.onScanned()
        const result = await untilStored(() => completePairing(context, device, auth), lease, logger)
        logger.info({ result }, 'QR code scanned')
      },
      async onReceipt(receipt, persist, earlier) {
        await storeReceipt(receipts, device, receipt, { persist, earlier }).catch(reportLoss)
        hooks.onReceipt(receipt)
      },
      async onPhoneRead(read, persist) {
        if (!records) return
        await persist(() => recordPhoneRead(context.db, lease, state.id, read)).catch(reportLoss)
        publishEventHint(state.accountId)
      },
      async onReceived(received, persist) {
        if (!received.writtenOn || records)
          await storeReceived(receiving, device, received, persist).catch(reportLoss)
      },
      onOfflineStalled() {
        context.metrics.offlineStalls.inc()
        logger.warn('WhatsApp has stopped delivering what waited for the sender, asking again')
      },
      isStored: (source) => isReceived(context.db, state.id, source),
    },
  )
  return session

  async function addressesOf(remoteJid: string): Promise<string[]> {
    const jid = accountJid(remoteJid)
    const phoneJid = await findPhoneJid(session.sock, jid)
    return phoneJid ? [jid, phoneJid] : [jid]
  }
}
