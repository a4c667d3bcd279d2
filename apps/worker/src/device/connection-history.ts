import { growingPauseMs } from '@wagate/runtime/growing-pause'
import { type AfterClose, afterClose } from '../session/connection/reconnect-policy.ts'
import { endCodes, type SocketEnd } from '../session/connection/socket-end.ts'

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
