import type { Logger } from '@wagate/shared/logger'
import {
  type CacheStore,
  isJidNewsletter,
  isJidStatusBroadcast,
  makeWASocket,
  type UserFacingSocketConfig,
  type WASocket,
} from 'baileys'
import type { Scope } from '../scoped-cache.ts'
import type { AuthStore } from './auth-store.ts'
import { makeBaileysLogger } from './baileys-logger.ts'
import { makeSignalSection } from './signal-section.ts'
import { makeUserDevices } from './user-devices.ts'

export type SocketOptions = {
  deviceId: number
  auth: AuthStore
  network: Partial<UserFacingSocketConfig>
  keepAliveMs: number
  logger: Logger
  /** Outlives a socket: a reconnect must not begin to count anew. */
  retryCounts: Scope
  getMessage: NonNullable<UserFacingSocketConfig['getMessage']>
}

/** Opens a socket at once. Its events end with `connection.update` `close`; a socket is never used again after that. */
export function openSocket(options: SocketOptions): WASocket {
  const { auth, retryCounts } = options
  const signal = makeSignalSection(auth.keys)
  return makeWASocket({
    ...options.network,
    auth: { creds: auth.creds, keys: signal.keys },
    makeSignalRepository: signal.makeRepository,
    logger: makeBaileysLogger(options.logger, options.deviceId),
    keepAliveIntervalMs: options.keepAliveMs,
    // An own message in the event buffer would swallow the updates that follow it.
    emitOwnEvents: false,
    // Otherwise the phone stops notifying its owner.
    markOnlineOnConnect: false,
    syncFullHistory: false,
    generateHighQualityLinkPreview: false,
    // The default of 10 × 3 s, inside the lock of the sender, would freeze it for half a minute.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    shouldIgnoreJid: (jid) => isJidStatusBroadcast(jid) || isJidNewsletter(jid),
    userDevicesCache: makeUserDevices(auth),
    msgRetryCounterCache: cacheStore(retryCounts),
    placeholderResendCache: cacheStore(retryCounts),
    callOfferCache: cacheStore(retryCounts),
    getMessage: options.getMessage,
  })
}

function cacheStore(scope: Scope): CacheStore {
  return {
    // The cast is Baileys' own: its interface lets the reader name the type.
    get: <Value>(key: string) => scope.get(key)?.value as Value | undefined,
    set: scope.set,
    del: scope.delete,
    flushAll: () => undefined,
  }
}
