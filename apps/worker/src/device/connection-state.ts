/** Until the login of a link is open. `isCompletingLink`: a phone has scanned, and that login has yet to open. */
type BeforeLogin = { isCompletingLink: boolean }

export type Disconnected =
  | { kind: 'idle' }
  /**
   * The attempt for this revision of the desired state, with this version of the client, failed. The next attempt with
   * both (null: with any) may begin at `untilMs`.
   */
  | { kind: 'waiting'; untilMs: number; rev: number | null; version: string | null }
  /** WhatsApp refused the credentials for this reason: they must be wiped. */
  | { kind: 'refused'; reason: string }

/** What a device's connection to WhatsApp is doing. Times are monotonic. */
export type ConnectionState<Connection, Outbox> =
  | (Disconnected & BeforeLogin)
  /** QR codes are shown, or a phone has scanned one and WhatsApp has not yet asked for the login that follows. */
  | ({ kind: 'pairing'; connection: Connection } & BeforeLogin)
  | ({ kind: 'logging-in'; connection: Connection } & BeforeLogin)
  /** Logged in, but not sending. */
  | { kind: 'open'; connection: Connection }
  | { kind: 'online'; connection: Connection; outbox: Outbox }

export const initialState = { kind: 'idle', isCompletingLink: false } as const

export function connectionOf<Connection, Outbox>(
  state: ConnectionState<Connection, Outbox>,
): Connection | undefined {
  return 'connection' in state ? state.connection : undefined
}

/** The connection of an open login. */
export function openConnectionOf<Connection, Outbox>(
  state: ConnectionState<Connection, Outbox>,
): Connection | undefined {
  return state.kind === 'open' || state.kind === 'online' ? state.connection : undefined
}

/** Undefined while it sends nothing. */
export function outboxOf<Connection, Outbox>(state: ConnectionState<Connection, Outbox>): Outbox | undefined {
  return state.kind === 'online' ? state.outbox : undefined
}

export function isCompletingLink<Connection, Outbox>(state: ConnectionState<Connection, Outbox>): boolean {
  return 'isCompletingLink' in state && state.isCompletingLink
}

/** `version`: of the client, as WhatsApp would be told now. */
export type Moment = { nowMs: number; version: string }

/** Its time is not over, and the version of the client is the one that was refused, if it was refused for its version. */
export function isPaused(
  { untilMs, version }: Extract<Disconnected, { kind: 'waiting' }>,
  moment: Moment,
): boolean {
  return untilMs > moment.nowMs && (version === null || version === moment.version)
}

/** A login is under way or open, or the pause before the next one is not over: reconciliation follows in any case. */
export function isComingOnline<Connection, Outbox>(
  state: ConnectionState<Connection, Outbox>,
  moment: Moment,
): boolean {
  if (state.kind === 'waiting') return isPaused(state, moment)
  return state.kind === 'logging-in' || openConnectionOf(state) !== undefined
}

export function connecting<Connection, Outbox>(
  state: ConnectionState<Connection, Outbox>,
  kind: 'pairing' | 'logging-in',
  connection: Connection,
): ConnectionState<Connection, Outbox> {
  return { kind, connection, isCompletingLink: isCompletingLink(state) }
}

export function disconnected<Connection, Outbox>(
  state: ConnectionState<Connection, Outbox>,
  next: Disconnected,
): ConnectionState<Connection, Outbox> {
  return { ...next, isCompletingLink: isCompletingLink(state) }
}

/** A phone has scanned the QR code of this connection. One that has been replaced meanwhile changes nothing. */
export function scanned<Connection, Outbox>(
  state: ConnectionState<Connection, Outbox>,
  connection: Connection,
): ConnectionState<Connection, Outbox> {
  const isOfState = state.kind === 'pairing' && state.connection === connection
  return isOfState ? { ...state, isCompletingLink: true } : state
}

/** The login of this connection is open. */
export function opened<Connection, Outbox>(
  state: ConnectionState<Connection, Outbox>,
  connection: Connection,
): ConnectionState<Connection, Outbox> {
  const isOfState = state.kind === 'logging-in' && state.connection === connection
  return isOfState ? { kind: 'open', connection } : state
}
