import type { SocketEnd } from '../src/session/connection/socket-end.ts'

/** WhatsApp ended a connection with this code. */
export function endWith(code: number | undefined, more: Partial<SocketEnd> = {}): SocketEnd {
  return {
    code,
    isByWhatsApp: true,
    isAckMissing: false,
    ban: { code: null, forMs: null },
    violation: null,
    proxyError: null,
    ...more,
  }
}

export const banFor = (forMs: number | null, code: string | null = null) =>
  endWith(402, { ban: { code, forMs } })
