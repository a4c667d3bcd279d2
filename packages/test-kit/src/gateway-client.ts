import type { Devnet } from '@wagate/devnet/devnet'
import { makeClient } from './http-client.ts'
import { readLogs } from './read-logs.ts'
import { until } from './until.ts'

type Fields = Record<string, unknown>

export type ReceivedOnPhone = {
  wa_message_id: string
  from: string
  type: string
  text?: string
  caption?: string
  mime?: string
  sha256?: string
  size?: number
  file?: {
    filename: string | null
    seconds: number | null
    width: number | null
    height: number | null
    preview: string | null
    is_gif?: boolean
    is_voice_note?: boolean
  }
  duplicates: number
}

export type MessageRecord = {
  message_id: string
  sender: string
  number: string
  direction: string
  type: string
  message: string | null
  caption: string | null
  status: string
  error_code: string | null
  wa_message_id: string
  sent_at: string | null
  read_at: string | null
  source: string | null
}

export type GatewayClient = ReturnType<typeof makeGatewayClient>

/** The gateway as a client sees it, and the simulated phones on the other side. With `dataFolder`, failures quote its logs. */
export function makeGatewayClient({
  apiUrl,
  simulator,
  adminKey,
  dataFolder,
}: Pick<Devnet, 'apiUrl' | 'simulator' | 'adminKey'> & Partial<Pick<Devnet, 'dataFolder'>>) {
  const control = makeControl(simulator?.controlUrl ?? '')
  const client = makeClient(apiUrl, adminKey.apiKey ?? '')
  const call = (operation: string, fields: Fields = {}) => client.post(`/${operation}`, fields)
  const get = (path: string) => client.get(`/${path}`)

  async function statusOf(sender: string): Promise<Fields> {
    return (await call('info-device', { sender })).body
  }

  async function history(query = ''): Promise<MessageRecord[]> {
    return (await get(`messages${query}`)).body.messages as MessageRecord[]
  }

  async function messageStatus(messageId: string): Promise<MessageRecord> {
    return (await call('message-status', { message_id: messageId })).body as MessageRecord
  }

  async function send(sender: string, number: string, message = 'x'): Promise<string> {
    const { status, body } = await call('send-message', { sender, number, message })
    if (status !== 200) {
      const { request_id: id } = body
      const logged = dataFolder && typeof id === 'string' ? findLogged(dataFolder, id) : []
      throw new Error([`send-message answered ${status}: ${JSON.stringify(body)}`, ...logged].join('\n'))
    }
    return String(body.message_id)
  }

  function untilStatus(messageId: string, wanted: string): Promise<MessageRecord> {
    return until(`the message is ${wanted}`, async () => {
      const message = await messageStatus(messageId)
      return message.status === wanted && message
    })
  }

  async function listCompanions(number: string): Promise<{ jid: string; connected: boolean }[]> {
    const phones =
      await control<{ number: string; companions: { jid: string; connected: boolean }[] }[]>('/phones')
    return phones.find((one) => one.number === number)?.companions ?? []
  }

  /** The jids of the devices that are linked to this phone. */
  async function companionsOf(number: string): Promise<string[]> {
    return (await listCompanions(number)).map(({ jid }) => jid)
  }

  /** The gateway calls a sender connected before its companion has logged in. */
  async function isLoggedIn(number: string): Promise<boolean> {
    return (await listCompanions(number)).some(({ connected }) => connected)
  }

  const phone = (number: string, from?: string) =>
    control<ReceivedOnPhone[]>(`/chats/${number}/messages${from ? `?from=${from}` : ''}`)

  return {
    call,
    get,
    request: client.request,
    control,
    phone,
    companionsOf,
    history,
    statusOf,
    messageStatus,
    /** Sends a text. Resolves to the id of the message, and fails if it was not accepted. */
    send,
    untilStatus,

    /** Sends a text and waits until the phone of the recipient has it. */
    deliver: async (sender: string, number: string, message?: string) =>
      untilStatus(await send(sender, number, message), 'delivered'),

    write: makeWrite(control),

    /** Links a sender by letting its phone scan the QR code; resolves when the device is connected. */
    async link(sender: string): Promise<void> {
      const qr = await call('generate-qr', { sender })
      if (qr.status !== 200) throw new Error(`No QR code: ${JSON.stringify(qr.body)}`)
      const scanned = await control<Fields>('/scan', { qr: qr.body.qr_text, number: sender })
      if (!scanned.ok) throw new Error(`The phone could not scan: ${scanned.error}`)
      await until(`${sender} is connected`, async () => {
        return (await statusOf(sender)).status === 'connected' && (await isLoggedIn(sender))
      })
    },

    /** The record of a message, once `is` holds of it. */
    untilMessage: (messageId: unknown, what: string, is: (message: MessageRecord) => boolean) =>
      until(`message ${what}`, async () => {
        const message = await messageStatus(String(messageId))
        return is(message) && message
      }),
  }
}

/** Writes on a phone: a text, a file, an edit or what else the control interface takes. Resolves to the id at WhatsApp. */
function makeWrite(control: ReturnType<typeof makeControl>) {
  return async (from: string, to: string, content: Fields): Promise<string> => {
    const { wa_message_id: id, error } = await control<Fields>(`/chats/${from}/send`, { to, ...content })
    if (error !== undefined) throw new Error(`The phone could not write: ${error}`)
    return String(id)
  }
}

/** Calls the control interface of the simulator: a POST with fields, otherwise a GET. */
function makeControl(controlUrl: string) {
  return async <Result>(path: string, fields?: Fields): Promise<Result> => {
    const response = await fetch(
      `${controlUrl}${path}`,
      fields && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fields),
      },
    )
    return (await response.json()) as Result
  }
}

/** The lines of all logs that contain the text. */
function findLogged(dataFolder: string, text: string): string[] {
  const lines = [...readLogs(dataFolder).values()].flatMap((log) => log.split('\n'))
  return lines.filter((line) => line.includes(text))
}
