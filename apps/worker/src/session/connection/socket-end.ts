import { DisconnectReason } from 'baileys'
import { ProxyError } from '../network/proxy-agent.ts'

/** Why a connection to WhatsApp ended. Other attributes of WhatsApp's stanza, such as a token for an appeal, are not read. */
export type SocketEnd = {
  /** WhatsApp's, or Baileys' DisconnectReason for what the network did. */
  code: number | undefined
  /** False: the code is that of the network, such as the HTTP status of a proxy, and says nothing about the sender. */
  isByWhatsApp: boolean
  /** WhatsApp ended the stream because it has no acknowledgement of a message. It delivers the message again. */
  isAckMissing: boolean
  /** Of a temporary ban: what it is for, and how long it still lasts. */
  ban: { code: string | null; forMs: number | null }
  /** Why WhatsApp has locked the number. */
  violation: string | null
  /** The proxy of the sender gave no connection. */
  proxyError: { detail: string | null } | null
}

/** Some of the codes. */
export const endCodes = {
  restartRequired: DisconnectReason.restartRequired,
  connectionReplaced: DisconnectReason.connectionReplaced,
}

/** The session itself gave the connection up. */
export const lostConnection: SocketEnd = {
  code: DisconnectReason.connectionLost,
  isByWhatsApp: false,
  isAckMissing: false,
  ban: { code: null, forMs: null },
  violation: null,
  proxyError: null,
}

/**
 * Reads the error of Baileys' last event. Its `data` is what the socket threw, the attributes of a `failure`, the only
 * child of a `stream:error`, or a `stream:error` without one.
 */
export function readSocketEnd(error: unknown): SocketEnd {
  const { output, data } = fieldsOf(error)
  const { statusCode } = fieldsOf(output)
  const given = fieldsOf(data)
  const isRemoved = given.tag === 'conflict' && fieldsOf(given.attrs).type === 'device_removed'
  const code = typeof statusCode === 'number' && Number.isInteger(statusCode) ? statusCode : undefined
  return {
    code: isRemoved ? DisconnectReason.loggedOut : code,
    isByWhatsApp: !(data instanceof Error),
    isAckMissing: given.tag === 'ack',
    ban: { code: textOf(given.code, /^\d{1,6}$/), forMs: secondsOf(given.expire) },
    violation: textOf(given.violation_reason, /^[\w .:-]{1,64}$/),
    proxyError: data instanceof ProxyError ? { detail: data.detail } : null,
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** WhatsApp's texts are shown to callers, so they must be short and plain. */
function textOf(value: unknown, form: RegExp): string | null {
  return typeof value === 'string' && form.test(value) ? value : null
}

function secondsOf(value: unknown): number | null {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) * 1000 : null
}
