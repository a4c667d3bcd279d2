import { randomBytes } from 'node:crypto'
import * as loaded from 'baileys'

// Versions before 6.7.19 are CommonJS.
export const baileys = loaded.makeWASocket ? loaded : loaded.default

const status = { refused: 0, delivered: 3 }
const silent = Object.fromEntries(
  ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => [level, () => {}]),
)
const logger = { ...silent, level: 'silent', child: () => logger }

/** Tells customers by WhatsApp that their order is on its way. */
export class ShippingNotices {
  #folder
  #options
  #onQr
  #socket
  #isOpen
  #opened
  #outcomes = new Map()
  #writes = new Set()
  #isClosed = false
  #isSaved = false
  /** Numbers and LIDs, as WhatsApp names them, of the people with whom the shop had chatted before. */
  acquaintances = new Set()

  /** `options` are added to those of `makeWASocket`: tests pass the address of a simulated network. */
  constructor(folder, { onQr = () => {}, ...options } = {}) {
    this.#folder = folder
    this.#onQr = onQr
    this.#options = options
    this.#waitForLogin()
  }

  /** Resolves when WhatsApp has accepted the login. */
  async connect() {
    await this.#login()
    await this.#isOpen
  }

  /** Resolves when the customer's phone has the notice. Rejects when WhatsApp refuses it. */
  async send(customer, order, label) {
    const text = `Your order ${order} is on its way.`
    const content = label
      ? { document: label, mimetype: 'application/pdf', fileName: `${order}.pdf`, caption: text }
      : { text }
    const messageId = `3EB0${randomBytes(9).toString('hex').toUpperCase()}`
    const outcome = new Promise((resolve, reject) => {
      this.#outcomes.set(messageId, { resolve, reject })
    })
    await this.#isOpen
    const sent = this.#socket.sendMessage(`${customer}@s.whatsapp.net`, content, { messageId })
    await Promise.all([sent, outcome])
  }

  /** Afterwards nothing is written to the folder. */
  async close() {
    this.#isClosed = true
    await this.#socket?.end(undefined)
    while (this.#writes.size > 0) await Promise.allSettled(this.#writes)
    this.#isSaved = true
  }

  async #login() {
    const { auth, saveCreds } = await this.#openFolder()
    if (this.#isClosed) return
    const socket = baileys.makeWASocket({
      auth,
      logger,
      emitOwnEvents: false,
      browser: ['Shop', 'Chrome', '1'],
      ...this.#options,
    })
    this.#socket = socket
    socket.ev.on('creds.update', saveCreds)
    socket.ev.on('messages.update', (updates) => {
      for (const { key, update } of updates) this.#settle(key.id, update.status)
    })
    socket.ev.on('messaging-history.set', ({ chats }) => {
      for (const { id } of chats) this.acquaintances.add(id)
    })
    socket.ev.on('connection.update', async ({ connection, qr }) => {
      if (qr) this.#onQr(qr)
      if (connection === 'open') this.#opened()
      if (connection !== 'close' || this.#isClosed) return
      this.#waitForLogin()
      await saveCreds()
      await this.#login()
    })
  }

  async #openFolder() {
    const { state, saveCreds } = await baileys.useMultiFileAuthState(this.#folder)
    const keys = { get: state.keys.get, set: (data) => this.#write(() => state.keys.set(data)) }
    return { auth: { creds: state.creds, keys }, saveCreds: () => this.#write(saveCreds) }
  }

  /** Baileys does not wait for its writes when a connection ends. */
  async #write(save) {
    if (this.#isSaved) return
    const writing = save()
    this.#writes.add(writing)
    await writing.finally(() => this.#writes.delete(writing))
  }

  #waitForLogin() {
    const before = this.#opened
    this.#isOpen = new Promise((resolve) => {
      this.#opened = () => {
        before?.()
        resolve()
      }
    })
  }

  #settle(messageId, reached) {
    const outcome = this.#outcomes.get(messageId)
    if (!outcome) return
    if (reached === status.refused) outcome.reject(new Error('WhatsApp refused the message'))
    else if (reached >= status.delivered) outcome.resolve()
    else return
    this.#outcomes.delete(messageId)
  }
}
