import { randomBytes } from 'node:crypto'
import { inLanes } from '@wagate/test-kit/load/in-lanes'
import { recipientOf } from '@wagate/test-kit/load/numbers'
import { makePhones, type Phones } from '@wagate/test-kit/load/phones'
import { makeWASocket, WA_CERT_DETAILS, type WASocket } from 'baileys'
import type { BareRequest } from './bare-messages.ts'
import { makeMemoryAuth } from './memory-auth.ts'
import { silent } from './silent.ts'

type Sender = { number: string; sock: WASocket }

const linksAtOnce = 4
const inFlightMax = 8
const ackMs = 60_000
let senders: Sender[] = []

process.on('message', (request: BareRequest) => {
  answer(request).then(
    (ms) => process.send?.({ ms }),
    (error) => process.send?.({ error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
if (!process.connected) process.exit()

async function answer(request: BareRequest): Promise<number> {
  const startedAt = performance.now()
  if (request.kind === 'send') await sendAll(request.messages, request.waitForAcks)
  else {
    WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(request.rootKey, 'base64')
    const phones = makePhones(request.controlUrl)
    const socks = new Map<string, WASocket>()
    await inLanes(request.senders, linksAtOnce, async (number) => {
      socks.set(number, await link(request.socketUrl, phones, number))
    })
    senders = [...socks].map(([number, sock]) => ({ number, sock }))
  }
  return performance.now() - startedAt
}

function link(socketUrl: string, phones: Phones, number: string): Promise<WASocket> {
  const auth = makeMemoryAuth()
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
        auth,
        waWebSocketUrl: socketUrl,
        logger: silent,
        userDevicesCache,
        emitOwnEvents: false,
        markOnlineOnConnect: false,
        syncFullHistory: false,
      })
      sock.ev.on('creds.update', (update) => Object.assign(auth.creds, update))
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

async function sendAll(messages: number, waitForAcks: boolean): Promise<void> {
  const perSender = Math.ceil(messages / senders.length)
  const indexes = Array.from({ length: perSender }, (_, index) => index)
  await Promise.all(
    senders.map((sender) => inLanes(indexes, inFlightMax, (index) => send(sender, index, waitForAcks))),
  )
}

async function send({ number, sock }: Sender, index: number, waitForAck: boolean): Promise<void> {
  const messageId = `3EB0${randomBytes(9).toString('hex').toUpperCase()}`
  const acked = waitForAck ? sock.waitForMessage(messageId, ackMs) : undefined
  acked?.catch(() => undefined)
  const jid = `${recipientOf(number, index)}@s.whatsapp.net`
  await sock.sendMessage(jid, { text: `Message ${index}`, linkPreview: null }, { messageId })
  if (waitForAck && !(await acked)) throw new Error(`No acknowledgement in ${ackMs} ms`)
}
