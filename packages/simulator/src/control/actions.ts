import { checkWritten } from '../handset/check-written.ts'
import type { Written } from '../handset/compose.ts'
import { markRead } from '../handset/mark-read.ts'
import { sendFromHandset } from '../handset/outbox.ts'
import { postStatus } from '../handset/post-status.ts'
import { claimedReceipts, claimReceipt } from '../handset/retry.ts'
import type { ReceivedMessage } from '../network/chat.ts'
import { checkFault, type WrittenFault } from '../network/check-fault.ts'
import { deviceJid } from '../network/device.ts'
import type { Fault } from '../network/faults.ts'
import { lidJid, pnJid } from '../network/jid.ts'
import { type Network, phoneOf } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import type { Counters } from '../network/stats.ts'
import { breakConnection } from '../stanzas/break-connection.ts'
import { type HistoryOffer, offerHistory } from '../stanzas/history-push.ts'
import { bundleOf } from '../stanzas/key-fetch.ts'
import { typeCode } from '../stanzas/link-code.ts'
import { noticeKinds, sendNotice } from '../stanzas/notices.ts'
import { scanQr } from '../stanzas/pairing.ts'
import { reinstall } from '../stanzas/reinstall.ts'
import { removeDevice } from '../stanzas/remove-device.ts'
import { retireSecret } from '../stanzas/retire-secret.ts'
import { type AccountActions, accountActions } from './account-actions.ts'
import { type BulkActions, bulkActions } from './bulk-actions.ts'
import { checkNumber } from './check-number.ts'
import { type NewChatActions, newChatActions } from './new-chat-actions.ts'
import { type PasskeyActions, passkeyActions } from './passkey-actions.ts'
import { readQr } from './qr.ts'
import { type RecordActions, recordActions } from './record-actions.ts'
import { type TimelineEntry, timeline } from './timeline.ts'
import { type WebVersionActions, webVersionActions } from './web-version-actions.ts'

const scanWaitMs = 60_000

type PhoneView = {
  number: string
  lid: string
  linked: boolean
  connected: boolean
  received: number
  companions: Array<{
    jid: string
    platform: string
    linked_at: string
    connected: boolean
    /** Stanzas that it has not acknowledged. */
    pending: number
    /** Those of them that it was sent over its present connection. */
    sent: number
    logins: number
    refused_logins: number
  }>
}

type StatsView = Counters & { open: number; connections: Record<string, number> }

/** The actions of people and tests. Each is also an HTTP request of the control interface. */
export type Actions = AccountActions &
  BulkActions &
  NewChatActions &
  PasskeyActions &
  WebVersionActions &
  RecordActions & {
    /**
     * The phone scans a QR code. Resolves when the companion has logged in after its restart, or without a JID when WhatsApp
     * has asked it for a passkey.
     */
    scan: (request: { qr: string; number: string }) => Promise<{ ok: true; jid: string | null }>
    /** The person types a pairing code on the phone. Resolves as `scan` does. */
    typeCode: (request: { code: string; number: string }) => Promise<{ ok: true; jid: string }>
    /** WhatsApp retires the secrets in the QR codes of all companions that wait to be scanned. */
    retireSecrets: () => { ok: true; companions: number }
    /** The phone removes its companions, or the one with this JID. */
    unlink: (request: { number: string; jid?: string }) => { ok: true; unlinked: number }
    phones: () => PhoneView[]
    messages: (number: string, filter?: { from?: string }) => ReceivedMessage[]
    timeline: (number: string) => TimelineEntry[]
    send: (number: string, request: { to: string } & Written) => Promise<{ ok: true; wa_message_id: string }>
    /** The person posts a status, which the companions of `to` are sent. */
    status: (number: string, request: { to: string }) => { ok: true; wa_message_id: string }
    /** WhatsApp is installed again on the phone: it has a new identity and no companions. */
    reinstall: (number: string) => { ok: true }
    /** The phone, or another companion of it, tells the companions of a history to unpack or download. */
    history: (number: string, offer: HistoryOffer) => Promise<{ ok: true }>
    /** The phone, or one of its companions, sends a receipt for any message, also for one that it never received. */
    receipt: (number: string, request: ReceiptRequest) => { ok: true }
    read: (number: string, request: { wa_message_id: string }) => { ok: true }
    /** WhatsApp tells the companions something that a program need only acknowledge. `pending` of `phones` shows whether they did. */
    notice: (number: string, request: { kind: string; about: string }) => { ok: true }
    fault: (request: WrittenFault) => { id: string }
    faults: () => Fault[]
    clearFault: (id: string) => void
    clearFaults: () => void
    stats: () => StatsView
  }

/** `device`: the companion that sends it, 0 for the phone. `as`: its address, `pn` or `lid`. */
type ReceiptRequest = { to: string; wa_message_id: string; type: string; device?: number; as?: string }

export function makeActions(network: Network): Actions {
  return {
    scan: async ({ qr, number }) => {
      const { linking } = await scanQr(network, readQr(qr), checkNumber(number))
      if (!phoneOf(network, checkNumber(number)).isPasskeyRequired) return untilLoggedIn(linking)
      linking.catch(() => undefined)
      return { ok: true, jid: null }
    },
    typeCode: async ({ code, number }) => untilLoggedIn(typeCode(network, checkNumber(number), code)),
    retireSecrets() {
      const waiting = new Set(network.pairings.values())
      for (const pairing of waiting) retireSecret(pairing)
      return { ok: true, companions: waiting.size }
    },
    unlink: ({ number, jid }) => unlink(network, number, jid),
    phones: () => [...network.phones.keys()].map((number) => viewPhone(network, number)),
    messages: (number, filter = {}) => messages(network, number, filter.from),
    timeline: (number) => timeline(phoneOf(network, checkNumber(number))),
    send: async (number, { to, ...written }) => {
      checkWritten(written)
      const phone = phoneOf(network, checkNumber(number))
      return { ok: true, wa_message_id: await sendFromHandset(network, phone, checkNumber(to), written) }
    },
    status: (number, { to }) => {
      const phone = phoneOf(network, checkNumber(number))
      return { ok: true, wa_message_id: postStatus(phone, phoneOf(network, checkNumber(to))) }
    },
    reinstall: (number) => {
      reinstall(network, phoneOf(network, checkNumber(number)))
      return { ok: true }
    },
    history: async (number, offer) => {
      await offerHistory(network, phoneOf(network, checkNumber(number)), offer)
      return { ok: true }
    },
    receipt: (number, { to, wa_message_id: id, type, device = 0, as = 'pn' }) => {
      const claimed = claimedReceipts.find((one) => one === type)
      if (!claimed) throw new SimulatorError(`type is one of: ${claimedReceipts.join(', ')}.`)
      const phone = phoneOf(network, checkNumber(number))
      const from = (as === 'lid' ? lidJid : pnJid)(phone.number, device)
      const bundle = bundleOf(network, from)
      if (!bundle) throw new SimulatorError('The phone has no such companion. GET /phones lists them.', 404)
      claimReceipt(network, phone, { to: phoneOf(network, checkNumber(to)), id, type: claimed, from, bundle })
      return { ok: true }
    },
    read: (number, request) => {
      markRead(network, phoneOf(network, checkNumber(number)), request.wa_message_id)
      return { ok: true }
    },
    notice: (number, { kind, about }) => {
      if (!noticeKinds.includes(kind)) throw new SimulatorError(`kind is one of: ${noticeKinds.join(', ')}.`)
      sendNotice(phoneOf(network, checkNumber(number)), kind, checkNumber(about))
      return { ok: true }
    },
    ...accountActions(network),
    ...bulkActions(network),
    ...newChatActions(network),
    ...passkeyActions(network),
    ...webVersionActions(network),
    ...recordActions(network),
    fault: (request) => ({ id: startFault(network, request).id }),
    faults: () => network.faults.list(),
    clearFault: (id) => {
      if (!network.faults.remove(id))
        throw new SimulatorError('No fault has this id. GET /faults lists them.', 404)
    },
    clearFaults: () => network.faults.clear(),
    stats: () => viewStats(network),
  }
}

async function untilLoggedIn(linking: Promise<Device>): Promise<{ ok: true; jid: string }> {
  const device = await linking
  await loggedIn(device)
  return { ok: true, jid: deviceJid(device) }
}

function loggedIn(device: Device): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(new SimulatorError('The companion was linked but did not log in again. See its log.', 504)),
      scanWaitMs,
    )
    timer.unref()
    device.whenActive.push(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function unlink(network: Network, number: string, jid: string | undefined): { ok: true; unlinked: number } {
  const devices = [...phoneOf(network, checkNumber(number)).devices.values()]
  const chosen = devices.filter((device) => jid === undefined || deviceJid(device) === jid)
  for (const device of chosen) removeDevice(network, device)
  return { ok: true, unlinked: chosen.length }
}

function messages(network: Network, number: string, from: string | undefined): ReceivedMessage[] {
  const received = network.phones.get(checkNumber(number))?.chat.received.values() ?? []
  const all = [...received].map(({ message }) => message)
  return from === undefined ? all : all.filter((message) => message.from === from)
}

function startFault(network: Network, request: WrittenFault): Fault {
  const fault = network.faults.add(checkFault(request))
  if (fault.moment !== 'login') return fault
  for (const client of [...network.connections.values()]) {
    if (client.kind !== 'device') continue
    const isMeant = fault.sender === undefined || fault.sender === client.device.phone.number
    if (isMeant && Math.random() < (fault.share ?? 1)) breakConnection(network, client.device, fault)
  }
  return fault
}

function viewPhone(network: Network, number: string): PhoneView {
  const phone = phoneOf(network, number)
  const companions = [...phone.devices.values()].map((device) => ({
    jid: deviceJid(device),
    platform: device.platform,
    linked_at: device.linkedAt,
    connected: isConnected(device),
    pending: device.pending.size,
    logins: device.logins.ok,
    refused_logins: device.logins.refused,
    sent: device.sentAtMs.size,
  }))
  return {
    number,
    lid: lidJid(number),
    linked: companions.length > 0,
    connected: companions.some((companion) => companion.connected),
    received: phone.chat.received.size,
    companions,
  }
}

function viewStats(network: Network): StatsView {
  const connections: Record<string, number> = {}
  for (const client of network.connections.values()) {
    if (client.kind !== 'device' || !isConnected(client.device)) continue
    const { number } = client.device.phone
    connections[number] = (connections[number] ?? 0) + 1
  }
  return { ...network.counters, open: network.connections.size, connections }
}

const isConnected = (device: Device): boolean =>
  device.connection !== undefined && !device.connection.halfOpen
