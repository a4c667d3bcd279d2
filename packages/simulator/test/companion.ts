import makeWASocket, {
  type BaileysEventMap,
  type UserFacingSocketConfig,
  WA_CERT_DETAILS,
  type WAMessage,
} from 'baileys'
import { vi } from 'vitest'
import type { Simulator } from '../src/simulator.ts'
import { socketOptions } from '../src/socket-options.ts'
import { type MemoryAuth, memoryAuth } from './memory-auth.ts'

// libsignal prints session records with private keys through these.
for (const method of ['info', 'warn', 'error'] as const)
  vi.spyOn(console, method).mockImplementation(() => {})

type Socket = ReturnType<typeof makeWASocket>
type Update = BaileysEventMap['messages.update'][number]

type Failure = { output?: { statusCode?: number }; data?: Record<string, string> }

const silent = {
  level: 'silent',
  child: () => silent,
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
}

/** A real Baileys socket and the events it has reported. `until` waits for a fact instead of a fixed time. */
export class Companion {
  readonly auth: MemoryAuth
  /** Without peer messages of the own phone. */
  readonly messages: WAMessage[] = []
  readonly updates: Update[] = []
  readonly sim: Simulator
  sock: Socket
  qr: string | undefined
  isOpen = false
  /** The status code of the last disconnect. */
  closedWith: number | undefined
  /** What came with it, such as the attributes of a `failure`. */
  closedAttributes: Record<string, string> | undefined
  historyCompleted = false
  /** Of its histories. */
  readonly chats: BaileysEventMap['messaging-history.set']['chats'] = []
  /** As they are read, before Baileys holds them back or merges them. */
  readonly histories: BaileysEventMap['messaging-history.set'][] = []
  readonly options: Partial<UserFacingSocketConfig>
  #waiting = new Set<() => void>()

  constructor(sim: Simulator, auth = memoryAuth(), options: Partial<UserFacingSocketConfig> = {}) {
    this.sim = sim
    this.auth = auth
    this.options = options
    this.sock = this.#open()
  }

  get number(): string {
    return this.sock.user?.id.split(':')[0] ?? ''
  }

  reconnect(): void {
    this.isOpen = false
    this.closedWith = undefined
    this.sock = this.#open()
  }

  async until<T>(fact: () => T | undefined | false | null, what: string, ms = 10_000): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(check)
        reject(new Error(`never came: ${what}`))
      }, ms)
      const check = () => {
        const value = fact()
        if (value === undefined || value === false || value === null) return
        clearTimeout(timer)
        this.#waiting.delete(check)
        resolve(value as T)
      }
      this.#waiting.add(check)
      check()
    })
  }

  /** Sends and waits for the ack or error of the server. */
  async send(to: string, content: Parameters<Socket['sendMessage']>[1], messageId?: string) {
    const id = messageId ?? newId()
    const ack = this.sock.waitForMessage(id, 10_000)
    ack.catch(() => {})
    await this.sock.sendMessage(`${to}@s.whatsapp.net`, content, { messageId: id })
    return { id, ack }
  }

  statusOf(id: string): number {
    return Math.max(-1, ...this.updates.filter((u) => u.key.id === id).map((u) => u.update.status ?? -1))
  }

  async end(): Promise<void> {
    await this.sock.end(undefined)
  }

  #open(): Socket {
    const sock = makeWASocket({
      ...socketOptions(this.sim, WA_CERT_DETAILS),
      auth: this.auth,
      logger: silent,
      browser: ['Test', 'Chrome', '1'],
      emitOwnEvents: false,
      markOnlineOnConnect: false,
      ...this.options,
    })
    const emit = sock.ev.emit.bind(sock.ev)
    sock.ev.emit = (event, data) => {
      if (event === 'messaging-history.set') {
        this.histories.push(data as BaileysEventMap['messaging-history.set'])
        this.#check()
      }
      return emit(event, data)
    }
    sock.ev.on('creds.update', (update) => Object.assign(this.auth.creds, update))
    sock.ev.on('connection.update', (update) => {
      if (update.qr) this.qr = update.qr
      if (update.connection === 'open') this.isOpen = true
      if (update.connection === 'close') {
        this.isOpen = false
        const error = update.lastDisconnect?.error as Failure | undefined
        this.closedWith = error?.output?.statusCode ?? 0
        this.closedAttributes = error?.data
        if (this.closedWith === 515) this.reconnect()
      }
      this.#check()
    })
    sock.ev.on('messages.upsert', ({ messages }) => {
      this.messages.push(...messages.filter((one) => !one.message?.protocolMessage))
      this.#check()
    })
    sock.ev.on('messages.update', (updates) => {
      this.updates.push(...updates)
      this.#check()
    })
    sock.ev.on('messaging-history.set', ({ chats }) => {
      this.chats.push(...chats)
      this.historyCompleted = true
      this.#check()
    })
    return sock
  }

  #check(): void {
    for (const check of [...this.#waiting]) check()
  }
}

let ids = 0
export const newId = (): string => `3EB0TEST${(++ids).toString().padStart(14, '0')}`

let numbers = 0
/** A number that no other test uses. */
export const newNumber = (): string => `4915${(100_000_000 + ++numbers).toString()}`

/** A companion that was paired by scanning its QR and is logged in. */
export async function linkedCompanion(
  sim: Simulator,
  number = newNumber(),
  options: Partial<UserFacingSocketConfig> = {},
): Promise<Companion> {
  const companion = new Companion(sim, memoryAuth(), options)
  const qr = await companion.until(() => companion.qr, 'a QR')
  await sim.scan({ qr, number })
  await companion.until(() => companion.isOpen, 'open')
  return companion
}
