import { growingPauseMs } from '@wagate/runtime/growing-pause'
import type { ConnectionEnd } from '../outbox/in-flight.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { type AfterClose, afterClose, isStreamError } from '../session/connection/reconnect-policy.ts'
import { endCodes, type SocketEnd } from '../session/connection/socket-end.ts'
import { afterEnd } from './after-end.ts'
import { type Connection, type ConnectionStart, openConnection } from './connection.ts'
import {
  type ConnectionState,
  connecting,
  connectionOf,
  disconnected,
  initialState,
  isCompletingLink,
  opened,
  scanned,
} from './connection-state.ts'
import type { DeviceScope } from './device-scope.ts'

/** Holds the one connection of a device and its state. */
export type Connector = {
  state(): ConnectionState<Connection, Outbox>
  /** Opens a connection. There must be none. */
  open(start: ConnectionStart): void
  /** Sends through the open connection. */
  startSending(start: (connection: Connection) => Outbox): void
  stopSending(): void
  /** Ends the connection. Resolves when WhatsApp has seen it. */
  end(): Promise<void>
  /** Ends a connection on which WhatsApp did not confirm the logout. Returns for how long no login for this revision follows. */
  endUnconfirmed(rev: number): number
  /** The credentials are wiped: nothing that happened to them counts any more. */
  forget(): void
}

type ConnectorHooks = {
  onOpen(): void
  reconcile(): void
  reconcileAfter(ms: number): void
  onError(error: unknown): void
}

export function makeConnector(scope: DeviceScope, hooks: ConnectorHooks): Connector {
  const { context, lease, logger, status } = scope
  const history = makeConnectionHistory()
  let state: ConnectionState<Connection, Outbox> = initialState

  function open(start: ConnectionStart): void {
    const connection = openConnection(scope, start, {
      onScanned() {
        state = scanned(state, connection)
      },
      onOpen() {
        state = opened(state, connection)
        hooks.onOpen()
      },
      async onClosed(end) {
        if (connectionOf(state) === connection) await handleEnd(connection, end)
      },
      onError: hooks.onError,
    })
    state = connecting(state, start.kind, connection)
  }

  async function handleEnd(ended: Connection, end: SocketEnd): Promise<void> {
    const { code } = end
    const kind = state.kind === 'pairing' ? 'pairing' : 'login'
    const { rev, isLoggingOut, clientVersion } = ended
    stopSending(isStreamError(end) ? 'stream_ended' : 'disconnected')
    // Its code links nothing any more. After a scan, the link is stored first; after the lease, the code may be the next owner's.
    if (kind === 'pairing' && !isCompletingLink(state) && lease.isValid()) {
      void context.events.clearQr(scope.id)
    }
    const next = history.note(end, { hasWorked: ended.hasWorked(), isLoggingOut })
    context.metrics.disconnects.inc({ code: code ?? 'none' })
    logger.info({ code, kind, next: next.kind }, 'Connection to WhatsApp ended')
    if (next.kind === 'block') noteBlock(scope, next, { code, clientVersion })
    const nowMs = performance.now()
    const forMs = nowMs - ended.openedAtMs
    const after = afterEnd(next, { kind, rev, version: clientVersion, forMs }, nowMs)
    state = disconnected(state, after.state)
    if (after.state.kind === 'refused') return hooks.reconcile()
    hooks.reconcileAfter(after.delayMs)
    if (kind === 'pairing' && end.proxyError) {
      await context.events.publish(scope.id, { kind: 'proxy-failed', ...end.proxyError })
    }
    if (!after.change) return
    await status.note(after.change)
    // The link of a banned number can be given up now.
    if (next.kind === 'block') return hooks.reconcile()
    if (!after.needsLease || after.state.kind !== 'waiting') return
    // The write was accepted, so no other worker owns the device.
    if (state.kind === 'waiting' && state.untilMs === after.state.untilMs) {
      state = { ...state, untilMs: nowMs + after.delayMs }
    }
    hooks.reconcileAfter(after.delayMs)
  }

  function stopSending(end: ConnectionEnd = 'disconnected'): void {
    if (state.kind !== 'online') return
    const { connection, outbox } = state
    state = { kind: 'open', connection }
    outbox.stop(end)
  }

  async function end(): Promise<void> {
    stopSending()
    const connection = connectionOf(state)
    if (!connection) return
    state = initialState
    const ended = connection.session.end()
    connection.releaseSlot()
    await ended
  }

  return {
    state: () => state,
    open,
    startSending(start) {
      if (state.kind === 'open') state = { ...state, kind: 'online', outbox: start(state.connection) }
    },
    stopSending,
    end,
    endUnconfirmed(rev) {
      void end()
      const pauseMs = history.noteUnconfirmedLogout(rev)
      const untilMs = performance.now() + pauseMs
      // WhatsApp may have ended the connection itself, and what that means comes first.
      if (state.kind === 'idle') state = disconnected(state, { kind: 'waiting', untilMs, rev, version: null })
      return pauseMs
    },
    forget() {
      if (!connectionOf(state)) state = initialState
    },
  }
}

function noteBlock(
  { context, logger }: Pick<DeviceScope, 'context' | 'logger'>,
  next: Extract<AfterClose, { kind: 'block' }>,
  of: { code: number | undefined; clientVersion: string },
): void {
  const { reason, detail, ends } = next
  const fields = { ...of, reason, detail, pauseMs: ends.afterMs }
  if (reason === 'client_outdated') {
    context.whatsApp.clientVersion.doubt()
    logger.error(fields, 'WhatsApp refuses the version of the client: upgrade, or look at WHATSAPP_VERSION')
  } else logger.warn(fields, 'WhatsApp refuses the login of the device, pausing its logins')
}

/** Remembers how a device's connections ended since this worker owns it. */
export type ConnectionHistory = {
  /** Returns what follows this end. */
  note(end: SocketEnd, ended: { hasWorked: boolean; isLoggingOut: boolean }): AfterClose
  /** Of this revision. Returns the pause before the login for the next attempt. */
  noteUnconfirmedLogout(rev: number): number
}

const logoutPause = { firstMs: 1000, maxMs: 60_000 }

export function makeConnectionHistory(): ConnectionHistory {
  let failures = 0
  let refusals = 0
  let replacements = 0
  /** Each login for them worked. */
  let logouts = { rev: 0, unconfirmed: 0 }
  return {
    note(end, { hasWorked, isLoggingOut }) {
      // A login alone proves nothing: WhatsApp may end the connection each time that a certain message is sent.
      if (hasWorked) {
        failures = 0
        refusals = 0
      }
      const next = afterClose(end, { failures, refusals, replacements, isLoggingOut })
      if (end.code !== endCodes.restartRequired) failures += 1
      if (next.kind === 'block' || next.reason === 'whatsapp_unavailable') refusals += 1
      if (end.code === endCodes.connectionReplaced) replacements += 1
      return next
    },
    noteUnconfirmedLogout(rev) {
      const unconfirmed = rev === logouts.rev ? logouts.unconfirmed + 1 : 1
      logouts = { rev, unconfirmed }
      return growingPauseMs(unconfirmed, logoutPause)
    },
  }
}
