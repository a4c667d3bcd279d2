import { randomBytes } from 'node:crypto'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { inLanes } from '@wagate/test-kit/load/in-lanes'
import { recipientOf } from '@wagate/test-kit/load/numbers'
import { makePhones, type Phones } from '@wagate/test-kit/load/phones'
import { until } from '@wagate/test-kit/until'
import { makeSignalSection } from '@wagate/worker/session/credentials/signal-section'
import { replaceTransactions } from '@wagate/worker/session/credentials/signal-steps'
import { makeWASocket, proto, WA_CERT_DETAILS, type WASocket } from 'baileys'
import type { BareBaileys, BarePace, BareReply, BareRequest } from './bare-messages.ts'
import { makeMemoryAuth } from './memory-auth.ts'
import { silent } from './silent.ts'

type Sender = { number: string; sock: WASocket }

const linksAtOnce = 4
const inFlightMax = 8
const ackMs = 60_000
const receiptsMs = 60_000
let senders: Sender[] = []
/** Messages of which the recipient's receipt was read. */
let delivered = 0

process.on('message', (request: BareRequest) => {
  answer(request).then(
    (reply) => process.send?.(reply),
    (error) => process.send?.({ error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
if (!process.connected) process.exit()

async function answer(request: BareRequest): Promise<BareReply> {
  const startedAt = performance.now()
  if (request.kind === 'link') {
    await linkAll(request)
    return { ms: performance.now() - startedAt }
  }
  const before = delivered
  const messages = await sendAll(request.messages, request)
  const ms = performance.now() - startedAt
  // Reading the receipts is a part of the cost.
  await until('all receipts are read', { withinMs: receiptsMs, everyMs: 5 }, () => {
    return delivered - before >= messages
  })
  return { ms }
}

async function linkAll({
  baileys,
  senders: numbers,
  socketUrl,
  rootKey,
  controlUrl,
}: Extract<BareRequest, { kind: 'link' }>): Promise<void> {
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, 'base64')
  const phones = makePhones(controlUrl)
  const socks = new Map<string, WASocket>()
  await inLanes(numbers, linksAtOnce, async (number) => {
    socks.set(number, await link(baileys, socketUrl, phones, number))
  })
  senders = [...socks].map(([number, sock]) => ({ number, sock }))
}

function link(baileys: BareBaileys, socketUrl: string, phones: Phones, number: string): Promise<WASocket> {
  const auth = makeMemoryAuth()
  const signal = baileys === 'as in a worker' ? makeSignalSection(auth.keys) : undefined
  // Entries of the default cache expire within minutes, and the lookups that follow would count as sending.
  const devices = new Map<string, unknown>()
  const userDevicesCache = {
    get: <Value>(key: string) => devices.get(key) as Value | undefined,
    set: (key: string, value: unknown) => void devices.set(key, value),
    del: (key: string) => void devices.delete(key),
    flushAll: () => devices.clear(),
  }
  return new Promise((resolve, reject) => {
    function open(): void {
      const sock = makeWASocket({
        auth: signal ? { creds: auth.creds, keys: signal.keys } : auth,
        ...(signal && { makeSignalRepository: signal.makeRepository }),
        waWebSocketUrl: socketUrl,
        logger: silent,
        userDevicesCache,
        emitOwnEvents: false,
        markOnlineOnConnect: false,
        syncFullHistory: false,
      })
      if (signal) replaceTransactions(sock, signal.keys)
      sock.ev.on('creds.update', (update) => Object.assign(auth.creds, update))
      sock.ev.on('messages.update', (updates) => {
        for (const { update } of updates) {
          if (update.status === proto.WebMessageInfo.Status.DELIVERY_ACK) delivered++
        }
      })
      sock.ev.on('connection.update', ({ qr, connection }) => {
        if (qr) phones.scan(qr, number).catch(reject)
        if (connection === 'open') resolve(sock)
        // WhatsApp closes the connection once after a pairing.
        if (connection === 'close') open()
      })
    }
    open()
  })
}

/** Returns how many it has sent. */
async function sendAll(messages: number, { waitForAcks, perSecond }: BarePace): Promise<number> {
  const perSender = Math.ceil(messages / senders.length)
  const indexes = Array.from({ length: perSender }, (_, index) => index)
  const startedMs = performance.now()
  await Promise.all(
    senders.map((sender, place) =>
      inLanes(indexes, inFlightMax, async (index) => {
        const before = index * senders.length + place
        if (perSecond) await delay(startedMs + (before * 1000) / perSecond - performance.now())
        await send(sender, index, waitForAcks)
      }),
    ),
  )
  return perSender * senders.length
}

async function send({ number, sock }: Sender, index: number, waitForAck: boolean): Promise<void> {
  const messageId = `3EB0${randomBytes(9).toString('hex').toUpperCase()}`
  const acked = waitForAck ? sock.waitForMessage(messageId, ackMs) : undefined
  acked?.catch(() => undefined)
  const jid = `${recipientOf(number, index)}@s.whatsapp.net`
  await sock.sendMessage(jid, { text: `Message ${index}`, linkPreview: null }, { messageId })
  // Keys in memory and unawaited answers leave the event loop no turn to read from the sockets, which then time out.
  if (!waitForAck) await nextTurn()
  else if (!(await acked)) throw new Error(`No acknowledgement in ${ackMs} ms`)
}
