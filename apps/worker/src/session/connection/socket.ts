import type { Logger } from '@wagate/runtime/logger'
import {
  type AuthenticationCreds,
  type CacheStore,
  isJidNewsletter,
  isJidStatusBroadcast,
  makeWASocket,
  type UserFacingSocketConfig,
  type WASocket,
} from 'baileys'
import type { Scope } from '../../caches/scoped-cache.ts'
import { makeColdTokens } from '../contacts/cold-tokens.ts'
import { isWantedHistory } from '../contacts/history.ts'
import { noteKnownChats } from '../contacts/known-chats.ts'
import { learnAddresses } from '../contacts/learn-addresses.ts'
import { onHistory } from '../contacts/on-history.ts'
import { makeUserDevices } from '../contacts/user-devices.ts'
import { type AccountSalt, makeAccountSalt } from '../credentials/account-salt.ts'
import { onAppStateSalt } from '../credentials/app-state-salt.ts'
import type { AuthStore } from '../credentials/auth-store.ts'
import type { Persist } from '../credentials/persistence.ts'
import { makeSignalSection } from '../credentials/signal-section.ts'
import { replaceTransactions } from '../credentials/signal-steps.ts'
import { makeBaileysLogger } from '../network/baileys-logger.ts'
import type { SenderNetwork } from '../network/network.ts'
import { downloadedBy } from '../network/whatsapp-fetch.ts'
import { makeWhatsAppUpload } from '../network/whatsapp-upload.ts'
import type { Inbound } from '../receiving/inbound.ts'
import { makeFanOutReports } from '../sending/fan-out.ts'
import { expectClosing } from '../sending/unawaited-sends.ts'

/** Of one device. Only this folder knows where it comes from. */
export type { AuthenticationCreds, WASocket }

export type SocketOptions = {
  deviceId: number
  auth: AuthStore
  network: SenderNetwork
  /** Whether messages to contacts that gave no privacy token carry the proof of the account. */
  sendsColdTokens: boolean
  /** Called at the last moment before the login is sent. */
  mayLogIn(): boolean
  logger: Logger
  /** Outlives a socket: a reconnect must not reset the counts. */
  retryCounts: Scope
  getMessage: NonNullable<UserFacingSocketConfig['getMessage']>
}

/** Baileys counts each retry request twice, so five requests of a recipient's device are answered. */
const retryCountMax = 10

/** The longest time of a timer. `keep-alive.ts` pings instead of Baileys. */
const neverMs = 2 ** 31 - 1

/** Opens a socket immediately. Its last event is `connection.update` `close`, after which it is never used again. */
export function openSocket(options: SocketOptions & { inbound: Inbound; persist: Persist }): WASocket {
  const { auth, retryCounts, inbound, persist } = options
  const salt = makeAccountSalt(auth)
  const coldTokens = makeColdTokens(auth.keys, salt)
  const signal = makeSignalSection(coldTokens.keys, { persist, storePlaintext: inbound.storePlaintext })
  const fanOuts = makeFanOutReports()
  const sock = makeWASocket({
    ...options.network.socket,
    options: downloadedBy(options.network.files),
    auth: { creds: auth.creds, keys: signal.keys },
    makeSignalRepository: (...given) => fanOuts.wrap(inbound.wrap(signal.makeRepository(...given))),
    logger: makeBaileysLogger(options.logger, options.deviceId),
    keepAliveIntervalMs: neverMs,
    // An own message in the event buffer would swallow the updates that follow it.
    emitOwnEvents: false,
    // If true, the phone would stop notifying its owner.
    markOnlineOnConnect: false,
    syncFullHistory: false,
    shouldSyncHistoryMessage: (history) => isWantedHistory(history, auth.creds),
    maxMsgRetryCount: retryCountMax,
    generateHighQualityLinkPreview: false,
    shouldIgnoreJid: (jid) => isJidStatusBroadcast(jid) || isJidNewsletter(jid),
    userDevicesCache: makeUserDevices(auth),
    msgRetryCounterCache: cacheStore(retryCounts),
    placeholderResendCache: cacheStore(retryCounts),
    callOfferCache: cacheStore(retryCounts),
    getMessage: options.getMessage,
  })
  sock.waUploadToServer = makeWhatsAppUpload(sock, options.network.files)
  expectClosing(sock)
  replaceTransactions(sock, signal.keys, fanOuts.begin)
  fanOuts.attachTo(sock)
  // A process that was paused in the middle of a handshake would log in after its lease has ended, and replace the
  // connection of the new owner. The first frame is WhatsApp's part of the handshake; the login is the answer to it.
  sock.ws.once('frame', () => {
    if (!options.mayLogIn()) void sock.end(undefined)
  })
  inbound.attach(sock)
  learnAddresses(sock)
  if (options.sendsColdTokens) coldTokens.attachTo(sock)
  keepTold(sock, options, salt)
  return sock
}

/** Stores what WhatsApp tells a device about its account and its contacts, and Baileys does not keep. */
function keepTold(
  sock: WASocket,
  { auth, network, persist, logger, deviceId }: SocketOptions & { persist: Persist },
  salt: AccountSalt,
): void {
  const onError = (error: unknown) =>
    logger.warn({ err: error, deviceId }, 'Storing what WhatsApp said of an account failed')
  onHistory(sock, (history) => {
    persist(() => salt.setFirst(history.salt)).catch(onError)
    persist(() => noteKnownChats(history.chats, auth)).catch(onError)
  })
  const source = { keys: auth.keys, options: downloadedBy(network.files) }
  onAppStateSalt(sock, source, (given) => persist(() => salt.set(given)), onError)
}

function cacheStore(scope: Scope): CacheStore {
  return {
    // The interface of Baileys lets the caller choose the type, which needs a cast.
    get: <Value>(key: string) => scope.get(key)?.value as Value | undefined,
    set: scope.set,
    del: scope.delete,
    flushAll: () => undefined,
  }
}
