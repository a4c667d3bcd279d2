import { setTimeout as delay } from 'node:timers/promises'
import { setConnection } from '@wagate/db/queries/device-connection'
import { endPairing } from '@wagate/db/queries/device-link'
import type { DeviceState } from '@wagate/db/queries/device-owner-view'
import { removeDevice, wipeCredentials } from '@wagate/db/queries/device-removal'
import { OwnershipLost } from '@wagate/db/queries/fence'
import { maskPhone } from '@wagate/shared/phone'
import { makeSingleFlight } from '@wagate/shared/single-flight'
import { within } from '@wagate/shared/within'
import { DisconnectReason, type WASocket } from 'baileys'
import type { DeviceContext } from '../context.ts'
import { makeAddressees } from '../outbox/addressees.ts'
import { makeNumberResolver } from '../outbox/number-resolver.ts'
import type { ConnectionEnd } from '../outbox/on-wire.ts'
import { type Outbox, provenMs, startOutbox } from '../outbox/outbox.ts'
import { makeRecorder, type Recorder } from '../outbox/recorder.ts'
import { makeRetries } from '../outbox/retries.ts'
import type { Lease } from '../ownership/lease.ts'
import type { AuthStore } from '../session/auth-store.ts'
import { removeCompanion } from '../session/log-out.ts'
import type { Outcome } from '../session/outcomes.ts'
import { afterClose, isStreamError } from '../session/reconnect-policy.ts'
import type { Session } from '../session/session.ts'
import { makeVault } from '../session/vault.ts'
import { makeDeviceAuth } from './device-auth.ts'
import { makeDevicePacing } from './device-pacing.ts'
import { openDeviceSession } from './device-session.ts'
import { intentOf } from './intent.ts'
import { makeNumberChecks } from './number-checks.ts'
import { makeUnlinkedSweep } from './unlinked-sweep.ts'

export type Device = {
  /** What is desired of it may have changed. */
  look(): void
  /** It may have new messages to send. */
  wake(): void
  /** Tells whoever waits for it whether this number is on WhatsApp; nothing while there is no connection. */
  checkNumber(number: string): void
  /** False when what the database says asks for something else than what is going on. */
  isDoing(state: DeviceState): boolean
  /** It can send. */
  isOnline(): boolean
  /** A QR code is shown, or a phone has scanned it and its link is not complete. */
  isPairing(): boolean
  /** `released`: what is on the wire gets its answer first. `lost`: nothing more is written or sent. */
  close(why: 'released' | 'lost'): Promise<void>
}

type Current = {
  kind: 'pair' | 'login'
  /** The wish that it fulfils. */
  desiredRev: number
  isLoggingOut: boolean
  openedAtMs: number
  recorder: Recorder
  session: Session
  isOpen: boolean
  /** Monotonic; undefined before it is open. */
  onlineSinceMs?: number
  /** WhatsApp acknowledged something on this connection. */
  hasAcknowledged: boolean
  /** Lets the next login begin. */
  giveBack(): void
}

const retryMs = 1000
const wipePauseMs = 20
/** How long a device waits before it logs in without knowing that this worker still owns it. */
const leaseLookMs = 60_000
/** Between two logins, whatever ended the first. Only the restart that follows a pairing does not wait. */
const loginGapMs = 1000
const pairingLookMs = 5000
/** A handover takes ≤ 1 s; an answer from WhatsApp takes a tenth of that. */
const drainMs = 700
/** Until WhatsApp has seen the end of a connection: a login that it sees before counts as one more at the same time. */
const farewellMs = 200
/** A first login makes 812 pre-keys, in 150 ms of CPU: two of them at a time. */
const firstLoginUnits = 4

/** One device of an owned shard: brings its socket to what the database asks for, and keeps it there. */
export function makeDevice(context: DeviceContext, lease: Lease, id: number): Device {
  const { db, events } = context
  const logger = context.logger.child({ deviceId: id })
  const vault = makeVault(context.masterKeys, id)
  const retryCounts = context.caches.retryCounts()
  const auth = makeDeviceAuth(context, { id, lease, vault })
  const pacing = makeDevicePacing(context, id)
  const resolver = makeNumberResolver(context.recipientsOf(id))
  const retries = makeRetries()
  const addressees = makeAddressees()
  const unlinked = makeUnlinkedSweep(context, lease, id)
  const numberChecks = makeNumberChecks(context, { id, resolver }, openSock)
  let current: Current | undefined
  let outbox: Outbox | undefined
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let replacements = 0
  let notBeforeMs = 0
  /** The wish whose attempt failed: the next attempt for it waits, one for a newer wish does not. */
  let failedRev: number | undefined
  /** Messages wait for its login. */
  let hasWaiting = false
  /** WhatsApp refused the credentials for this reason: they are to be forgotten. */
  let refusedBecause: string | undefined
  let isCompletingLink = false
  let isClosed = false
  let lastNoted: Promise<void> = Promise.resolve()

  const look = makeSingleFlight(reconcile, onError)

  function lookAfter(ms: number): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(look, ms)
  }

  function onError(error: unknown): void {
    if (isClosed) return
    if (error instanceof OwnershipLost) context.onLost(error)
    logger.warn({ err: error }, 'A device could not be brought to its desired state, trying again')
    lookAfter(retryMs)
  }

  async function reconcile(): Promise<void> {
    if (isClosed) return
    if (refusedBecause) await forgetCredentials(refusedBecause)
    const before = current
    const state = await context.deviceStates.add(id)
    if (isClosed) return
    // It ended meanwhile, perhaps for a phone that scanned: what was read may be older than that.
    if (current !== before) return look()
    if (state && state.desiredRev !== failedRev) notBeforeMs = 0
    const intent = intentOf(state)
    if (state) unlinked.sweep(state)
    if (state && intent === 'connect' && !current) return logIn(state)
    switch (intent) {
      case 'connect':
        return state && connect(state)
      case 'log-out':
        return state && logOut(state)
      case 'pair':
        return state && pair(state)
      case 'remove':
        await rest(state)
        return remove()
      case 'rest':
        return rest(state)
    }
  }

  async function connect(state: DeviceState): Promise<void> {
    const opened = current
    if (opened?.kind !== 'login' || !opened.isOpen) return
    if (outbox) return repace(outbox, state)
    const [pacer] = await Promise.all([
      pacing.apply(state),
      noteConnection({ connection: 'online', reason: null }),
    ])
    if (isClosed || current !== opened) return
    const { accountId, restrictedMs } = state
    const { recorder, session } = opened
    const device = {
      id,
      accountId,
      lease,
      vault,
      pacer,
      resolver,
      retries,
      addressees,
      recorder,
      restrictedMs,
    }
    outbox = startOutbox(context, device, session.sock)
    logger.info({ sender: maskPhone(state.sender) }, 'The device is connected')
    await events.publish(id, { kind: 'status', connected: true, reason: null })
  }

  async function repace(running: Outbox, state: DeviceState): Promise<void> {
    if (pacing.isAt(state)) return
    await pacing.apply(state)
    logger.info('The device sends at its new pace')
    running.wake()
  }

  async function logOut(state: DeviceState): Promise<void> {
    stopOutbox()
    if (current?.kind === 'pair') return
    if (!current) return logIn(state)
    if (!current.isOpen) return
    const isRemoved = await removeCompanion(current.session.sock)
    void endSession()
    if (!isRemoved) return lookAfter(retryMs)
    await forgetCredentials(null)
    logger.info({ sender: maskPhone(state.sender) }, 'The device is logged out')
    look()
  }

  async function pair(state: DeviceState): Promise<void> {
    lookAfter(pairingLookMs)
    // What a logout has ended, seen or not, must not be scanned any more: another wish gets another QR code.
    if (!isPairingFor(state)) void endSession()
    if (current || performance.now() < notBeforeMs) return
    const giveBack = context.pairings.tryAcquire(String(state.accountId), 1)
    if (giveBack) open('pair', auth.make(), state, giveBack)
    else await events.publish(id, { kind: 'pairing-refused' })
  }

  function isPairingFor({ desiredRev }: DeviceState): boolean {
    return current?.kind === 'pair' && current.desiredRev === desiredRev
  }

  async function rest(state: DeviceState | undefined): Promise<void> {
    if (!current) return
    const wasPairing = current.kind === 'pair'
    stopOutbox()
    void endSession()
    if (!state || !wasPairing) return
    const reason = state.desired === 'linked' ? 'qr_expired' : null
    await endPairing(db, lease, id, { desiredRev: state.desiredRev, reason })
    await events.clearQr(id)
    await events.publish(id, { kind: 'status', connected: false, reason })
  }

  async function logIn(state: DeviceState): Promise<void> {
    const waitMs = notBeforeMs - performance.now()
    if (waitMs > 0) return lookAfter(waitMs)
    const store = await auth.load()
    if (!store) return
    const isFirst = store.creds.nextPreKeyId === 1
    const giveBack = await context.logins.acquire(isFirst ? firstLoginUnits : 1, () => hasWaiting)
    if (isClosed || !lease.isValid()) giveBack()
    else open('login', store, state, giveBack)
  }

  function open(kind: Current['kind'], store: AuthStore, state: DeviceState, giveBack: () => void): void {
    const opened: Current = {
      kind,
      desiredRev: state.desiredRev,
      isLoggingOut: kind === 'login' && !state.isLinked,
      openedAtMs: performance.now(),
      recorder: makeRecorder(context, { ...state, lease }),
      isOpen: false,
      hasAcknowledged: false,
      giveBack,
      session: openDeviceSession(
        context,
        { state, lease, auth: store, vault, retryCounts, addressees, logger },
        {
          onScanned() {
            isCompletingLink = true
          },
          onOpen() {
            giveBack()
            context.metrics.logins.inc()
            isCompletingLink = false
            opened.isOpen = true
            opened.onlineSinceMs = performance.now()
            hasWaiting = false
            look()
          },
          onOutcome: (waId, outcome) => onOutcome(opened, waId, outcome),
          onReceipt: ({ kind, waIds, saidBy }) => {
            context.metrics.receipts.inc({ kind }, waIds.length)
            for (const waId of waIds) onOutcome(opened, waId, { kind, saidBy })
          },
          async onClosed(code) {
            giveBack()
            if (current === opened) await handleClosed(opened, code)
          },
          onError,
        },
      ),
    }
    current = opened
  }

  function onOutcome(connection: Current, waId: string, outcome: Outcome): void {
    if (outcome.kind !== 'refused') {
      connection.hasAcknowledged = true
      pacing.settle(waId)
    }
    outbox?.settle(waId, outcome)
  }

  async function handleClosed(ended: Current, code: number | undefined): Promise<void> {
    const { kind, openedAtMs, isLoggingOut } = ended
    stopOutbox(isStreamError(code) ? 'stream_ended' : 'disconnected')
    current = undefined
    failedRev = ended.desiredRev
    // A login alone proves nothing: WhatsApp may end the connection each time that a certain message is sent.
    if (hasWorked(ended)) failures = 0
    const next = afterClose(code, { failures, replacements, isLoggingOut })
    if (code !== DisconnectReason.restartRequired) failures += 1
    if (code === DisconnectReason.connectionReplaced) replacements += 1
    context.metrics.disconnects.inc({ code: code ?? 'none' })
    logger.info({ code, kind, next: next.kind }, 'The connection to WhatsApp ended')
    if (next.kind === 'wipe' && kind === 'login') {
      refusedBecause = next.reason
      return look()
    }
    const nowMs = performance.now()
    const gapMs = kind === 'login' ? openedAtMs + loginGapMs - nowMs : 0
    const delayMs = Math.max(gapMs, next.kind === 'reconnect' ? next.delayMs : retryMs)
    const needsLease = next.kind === 'reconnect' && next.needsLease === true
    notBeforeMs = nowMs + (needsLease ? leaseLookMs : delayMs)
    lookAfter(delayMs)
    if (kind !== 'login') return
    const hasGrace = next.kind === 'wipe' || next.hasGrace
    await noteConnection({ connection: 'offline', reason: next.reason, hasGrace })
    // It was written: no other worker owns the device.
    if (!needsLease) return
    notBeforeMs = nowMs + delayMs
    lookAfter(delayMs)
  }

  /** One after the other: a connection that ends at once must not be shown as online for as long as WhatsApp is left alone. */
  function noteConnection(change: Parameters<typeof setConnection>[3]): Promise<void> {
    const noted = lastNoted.then(() => setConnection(db, lease, id, change))
    lastNoted = noted.catch(() => undefined)
    return noted
  }

  async function forgetCredentials(reason: string | null): Promise<void> {
    await auth.retire()
    await wipe(reason)
    refusedBecause = undefined
    notBeforeMs = 0
    await events.publish(id, { kind: 'status', connected: false, reason })
  }

  async function remove(): Promise<void> {
    await wipe(null)
    await removeDevice(db, lease, id)
  }

  /** In bounded steps. Another link waits for all of them: it must not find keys of this one. */
  async function wipe(reason: string | null): Promise<void> {
    while (!(await wipeCredentials(db, lease, id, reason))) await delay(wipePauseMs)
  }

  function stopOutbox(end: ConnectionEnd = 'disconnected'): void {
    outbox?.stop(end)
    outbox = undefined
  }

  /** A look follows anyway: when its socket is open or has failed, or when the wait before it is over. */
  function isComingOnline(): boolean {
    return current?.kind === 'login' || notBeforeMs > performance.now()
  }

  function openSock(): WASocket | undefined {
    return current?.kind === 'login' && current.isOpen ? current.session.sock : undefined
  }

  /** Resolves when WhatsApp has seen it. */
  function endSession(): Promise<void> {
    const ended = current?.session.end()
    current?.giveBack()
    current = undefined
    return ended ?? Promise.resolve()
  }

  return {
    look,
    wake() {
      hasWaiting = true
      if (outbox) outbox.wake()
      else if (!isComingOnline()) look()
    },
    checkNumber: numberChecks.ask,
    isDoing(state) {
      const intent = intentOf(state)
      if (intent === 'rest') return current === undefined
      if (intent === 'pair') return isPairingFor(state)
      if (intent !== 'connect') return false
      return outbox ? pacing.isAt(state) : isComingOnline()
    },
    isOnline: () => outbox !== undefined,
    isPairing: () => current?.kind === 'pair' || isCompletingLink,
    async close(why) {
      isClosed = true
      unlinked.stop()
      clearTimeout(timer)
      if (why === 'released') await outbox?.drain(drainMs)
      stopOutbox()
      const ended = endSession()
      retryCounts.close()
      if (why === 'released') await within(farewellMs, ended)
    },
  }
}

function hasWorked({ hasAcknowledged, onlineSinceMs = Number.POSITIVE_INFINITY }: Current): boolean {
  return hasAcknowledged || performance.now() - onlineSinceMs >= provenMs
}
