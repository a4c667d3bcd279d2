import type { PhoneRead } from '@wagate/db/queries/messages/phone-reads'
import { makeOneAtATime } from '@wagate/runtime/one-at-a-time'
import { type BaileysEventMap, DisconnectReason, jidDecode, type WASocket } from 'baileys'
import type { AuthStore } from '../credentials/auth-store.ts'
import { makePersist, type Persist } from '../credentials/persistence.ts'
import { type LinkingHooks, openLinking } from '../linking/linking.ts'
import type { PasskeyLink } from '../linking/passkey.ts'
import { makeInbound } from '../receiving/inbound.ts'
import { makeMessageSecrets } from '../receiving/message-secrets.ts'
import { askForAllOffline } from '../receiving/offline-queue.ts'
import { findAddresses, findPhoneJid, type Receipt, storeReceiptsFirst } from '../receiving/receipts.ts'
import type { Received } from '../receiving/received.ts'
import type { ReceivedSource } from '../receiving/received-source.ts'
import { makeNoteStore } from '../receiving/undecryptable.ts'
import { makeUnstoredStanzas } from '../receiving/unstored-stanzas.ts'
import { type Outcome, onAcknowledgements } from '../sending/outcomes.ts'
import { keepAlive } from './keep-alive.ts'
import type { Restrictions } from './restrictions.ts'
import { openSocket, type SocketOptions } from './socket.ts'
import { lostConnection, readSocketEnd, type SocketEnd } from './socket-end.ts'

export type SessionHooks = LinkingHooks & {
  /** WhatsApp asks for the passkey of the account, with these WebAuthn request options. The QR code is used. */
  onPasskeyAsked(options: Record<string, unknown>): Promise<void>
  /** A phone has scanned: the credentials are complete and must be stored before this resolves. */
  onPaired(auth: AuthStore): Promise<void>
  onOpen(): void
  onOutcome(waId: string, outcome: Outcome): void
  /** WhatsApp says whether the sender may write to new contacts. */
  onRestrictions(restrictions: Restrictions): void
  /** Resolves when the receipt is stored. Only then is it acknowledged to WhatsApp. */
  onReceipt(receipt: Receipt, persist: Persist, earlier: Promise<unknown>): Promise<void>
  /** Resolves when it is stored that messages were read on the phone. */
  onPhoneRead(read: PhoneRead, persist: Persist): Promise<void>
  /** Resolves when the message is stored. Only then is it acknowledged to WhatsApp. */
  onReceived(received: Received, persist: Persist): Promise<void>
  /** Whether this message of a contact was stored before. */
  isStored(source: ReceivedSource): Promise<boolean>
  /** WhatsApp or the network ended the session. Not called after `end`. */
  onClosed(end: SocketEnd): Promise<void>
  /** WhatsApp has stopped handing out what waited for the device. */
  onOfflineStalled(): void
  onError(error: unknown): void
}

/** One connection of one device. It is never reopened: a reconnect is a new session. */
export type Session = {
  readonly sock: WASocket
  readonly passkey: PasskeyLink
  /** Closes the connection; the device stays linked. Resolves when WhatsApp has seen it, which may take half a minute. */
  end(): Promise<void>
}

/** As Baileys ends a connection without a scan. */
const qrCodesUsedUp = { output: { statusCode: DisconnectReason.timedOut } }

type SessionOptions = SocketOptions & {
  keepAliveMs: number
  /** Whether the secrets of texts are stored, with which their authors encrypt edits. */
  keepsEditSecrets: boolean
}

function reportFailure({ logger, deviceId }: SocketOptions): (error: unknown) => void {
  return (err) => logger.warn({ err, deviceId }, 'Database request of a session failed, will retry')
}

export function openSession(options: SessionOptions, hooks: SessionHooks): Session {
  const { auth, keepsEditSecrets: keepsTexts, logger } = options
  let isEnded = false
  /** `end` was called. */
  let isDismissed = false
  const onFailure = reportFailure(options)
  const persist = makePersist(() => isEnded, onFailure)
  const persistCreds = makePersist(() => isDismissed, onFailure)
  let savedCreds: Promise<unknown> = Promise.resolve()
  const unstored = makeUnstoredStanzas({
    onStuck: () => closed(lostConnection).catch(hooks.onError),
    onRelease: () => offline.proceed(),
  })
  const inbound = makeInbound({
    me: () => auth.creds.me,
    store: (received) => hooks.onReceived(received, persist),
    findNumber: async (lid) => jidDecode((await findPhoneJid(sock, lid)) ?? undefined)?.user ?? null,
    isStored: (source) => persist(() => hooks.isStored(source)),
    secrets: makeMessageSecrets({
      auth,
      keepsTexts,
      persist,
      findAddresses: (key) => findAddresses(sock, key),
    }),
    notes: makeNoteStore(auth, persist),
    unstored,
    logger,
  })
  const sock = openSocket({ ...options, inbound, persist })
  /** Before a phone has scanned, there are no credentials worth storing. */
  let isPaired = auth.creds.me !== undefined

  // The credentials must be stored before the restart that follows a pairing is handled.
  const inOrder = makeOneAtATime()
  sock.ev.process((events) => inOrder(() => handle(events)).catch(hooks.onError))
  const linking = openLinking(sock, auth.creds, {
    onQr: (code) => persist(() => hooks.onQr(code)),
    onQrRetired: (code) => persist(() => hooks.onQrRetired(code)),
    onPasskeyAsked: (options) => inOrder(() => hooks.onPasskeyAsked(options)).catch(hooks.onError),
    inOrder,
    onError: hooks.onError,
  })
  onAcknowledgements(sock, hooks.onOutcome)
  storeReceiptsFirst(sock, unstored, persist, hooks)
  const offline = askForAllOffline(sock, { hasRoom: unstored.hasRoom, onStalled: hooks.onOfflineStalled })
  const alive = keepAlive(sock, options.keepAliveMs, () => {
    closed(lostConnection).catch(hooks.onError)
  })

  async function closed(ended: SocketEnd): Promise<void> {
    if (isEnded) return
    void finish()
    // The next session must not load older credentials.
    await savedCreds
    if (!isDismissed) await hooks.onClosed(ended)
  }

  function end(): Promise<void> {
    isDismissed = true
    return finish()
  }

  function finish(): Promise<void> {
    isEnded = true
    alive.stop()
    offline.stop()
    auth.release()
    inbound.close()
    return sock.end(undefined)
  }

  function saveCreds(): void {
    savedCreds = Promise.all([savedCreds, persistCreds(auth.saveCreds)]).catch(hooks.onError)
  }

  async function handle(events: Partial<BaileysEventMap>): Promise<void> {
    const update = events['connection.update']
    if (update?.isNewLogin) {
      await hooks.onPaired(auth)
      isPaired = true
    }
    if (events['creds.update'] && isPaired) saveCreds()
    if (isEnded) return
    if (update?.qr && !(await linking.showQr(update.qr))) return closed(readSocketEnd(qrCodesUsedUp))
    const newChatCap = events['message-capping.update']
    if (update?.reachoutTimeLock || newChatCap) {
      hooks.onRestrictions({ timeLock: update?.reachoutTimeLock, newChatCap })
    }
    if (update?.connection === 'open') hooks.onOpen()
    if (update?.connection === 'close') await closed(readSocketEnd(update.lastDisconnect?.error))
  }

  return { sock, passkey: linking.passkey, end }
}
