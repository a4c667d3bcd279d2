import { DisconnectReason } from 'baileys'
import { type AfterClose, afterClose } from '../session/reconnect-policy.ts'

/** Remembers how a device's connections ended since this worker owns it. */
export type ConnectionHistory = {
  /** Returns what follows this end. */
  note(code: number | undefined, ended: { hasWorked: boolean; isLoggingOut: boolean }): AfterClose
}

export function makeConnectionHistory(): ConnectionHistory {
  let failures = 0
  let replacements = 0
  return {
    note(code, { hasWorked, isLoggingOut }) {
      // A login alone proves nothing: WhatsApp may end the connection each time that a certain message is sent.
      if (hasWorked) failures = 0
      const next = afterClose(code, { failures, replacements, isLoggingOut })
      if (code !== DisconnectReason.restartRequired) failures += 1
      if (code === DisconnectReason.connectionReplaced) replacements += 1
      return next
    },
  }
}

/** Between two logins, whatever ended the first. Only the restart that follows a pairing does not wait. */
const loginGapMs = 1000
/** After credentials were refused that no phone has linked yet. */
const retryMs = 1000
/** How long a device waits before it logs in without knowing that this worker still owns it. */
const unconfirmedLeaseMs = 60_000

/** The pause before the next attempt. `unconfirmedMs` counts until Postgres has confirmed the lease. */
export function pauseAfter(
  next: AfterClose,
  kind: 'pairing' | 'login',
  connectedForMs: number,
): { delayMs: number; unconfirmedMs: number; needsLease: boolean } {
  const gapMs = kind === 'login' ? loginGapMs - connectedForMs : 0
  const delayMs = Math.max(gapMs, next.kind === 'reconnect' ? next.delayMs : retryMs)
  const needsLease = kind === 'login' && next.kind === 'reconnect' && next.needsLease === true
  return { delayMs, unconfirmedMs: needsLease ? unconfirmedLeaseMs : delayMs, needsLease }
}
