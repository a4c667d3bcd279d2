import type { ConnectionEnd } from '../outbox/in-flight.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { isStreamError } from '../session/reconnect-policy.ts'
import { type Connection, type ConnectionStart, openConnection } from './connection.ts'
import { makeConnectionHistory, pauseAfter } from './connection-history.ts'
import {
  type ConnectionState,
  connecting,
  connectionOf,
  disconnected,
  initialState,
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
  const { context, logger, status } = scope
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
      async onClosed(code) {
        if (connectionOf(state) === connection) await handleEnd(connection, code)
      },
      onError: hooks.onError,
    })
    state = connecting(state, start.kind, connection)
  }

  async function handleEnd(ended: Connection, code: number | undefined): Promise<void> {
    const kind = state.kind === 'pairing' ? 'pairing' : 'login'
    stopSending(isStreamError(code) ? 'stream_ended' : 'disconnected')
    const next = history.note(code, { hasWorked: ended.hasWorked(), isLoggingOut: ended.isLoggingOut })
    context.metrics.disconnects.inc({ code: code ?? 'none' })
    logger.info({ code, kind, next: next.kind }, 'Connection to WhatsApp ended')
    if (next.kind === 'wipe' && kind === 'login') {
      state = disconnected(state, { kind: 'refused', reason: next.reason })
      return hooks.reconcile()
    }
    const nowMs = performance.now()
    const { delayMs, unconfirmedMs, needsLease } = pauseAfter(next, kind, nowMs - ended.openedAtMs)
    const untilMs = nowMs + unconfirmedMs
    state = disconnected(state, { kind: 'waiting', untilMs, rev: ended.rev })
    hooks.reconcileAfter(delayMs)
    if (kind !== 'login') return
    const hasGrace = next.kind === 'wipe' || next.hasGrace
    await status.note({ connection: 'offline', reason: next.reason, hasGrace })
    if (!needsLease) return
    // The write was accepted, so no other worker owns the device.
    if (state.kind === 'waiting' && state.untilMs === untilMs) state = { ...state, untilMs: nowMs + delayMs }
    hooks.reconcileAfter(delayMs)
  }

  function stopSending(end: ConnectionEnd = 'disconnected'): void {
    if (state.kind !== 'online') return
    const { connection, outbox } = state
    state = { kind: 'open', connection }
    outbox.stop(end)
  }

  return {
    state: () => state,
    open,
    startSending(start) {
      if (state.kind === 'open') state = { ...state, kind: 'online', outbox: start(state.connection) }
    },
    stopSending,
    async end() {
      stopSending()
      const connection = connectionOf(state)
      if (!connection) return
      state = initialState
      const ended = connection.session.end()
      connection.releaseSlot()
      await ended
    },
    forget() {
      if (!connectionOf(state)) state = initialState
    },
  }
}
