/** The control interface of the simulated network. */
export type Phones = {
  scan(qr: string, number: string): Promise<void>
  /** Linked devices that are logged in now. */
  countConnected(): Promise<number>
  /** Messages from clients, in the order of arrival. */
  log(): Promise<LogLine[]>
  /** Login attempts, in the order of arrival. */
  logins(): Promise<Login[]>
  /** Queries about users, in the order of arrival. */
  lookups(): Promise<Lookup[]>
  /** See `packages/simulator/reference.md` for the kinds. */
  fault(request: Record<string, unknown>): Promise<void>
  faults(): Promise<{ id: string; kind: string; sender?: string }[]>
  clearFault(id: string): Promise<void>
  /** Ends the faults of this sender. Those of others go on. */
  clearFaultsOf(sender: string): Promise<void>
  /** Cuts the connection of the sender, and every later one until the returned function is called. */
  keepOffline(sender: string): Promise<() => Promise<void>>
  clearFaults(): Promise<void>
  stats(): Promise<Stats>
  /** The messages on the phone of this number. */
  receivedBy(number: string): Promise<Received[]>
  /** The person with this phone writes; resolves to the id of the message. */
  write(from: string, to: string, text: string): Promise<string>
  /** Many people write, in this order; resolves to the ids. */
  writeMany(messages: { from: string; to: string; text: string }[]): Promise<string[]>
  /** Gives the phone earlier chats, which its later companions get as history. */
  givePast(number: string, past: { chats: number; messages: number }): Promise<void>
  /** The person opens the message. False when the phone has no such message. */
  read(number: string, waId: string): Promise<boolean>
}

/** One message on a phone, however often it came. */
export type Received = { wa_message_id: string; from: string; text: string | null; caption: string | null }

export type LogLine = {
  /** When it arrived, ISO 8601. */
  t: string
  /** Rises with every connection that the network took. */
  connection: number
  sender: string
  recipient: string
  wa_message_id: string
  ack: string | null
  /** `tctoken`, `cstoken` or `invalid`. */
  token?: string | null
  /** The recipient's receipt went out. */
  receipt: boolean
  duplicate: boolean
  /** Of the recipient, for which it was encrypted. */
  devices?: number[]
}

type Login = {
  t: string
  connection: number
  sender: string
  /** Of the client, as it said. */
  version: string
  /** `ok`, the code of a refusal, or `dropped`. */
  result: string
}

/** `asked`: `contact`, `devices` or `lid`. */
type Lookup = { t: string; connection: number; sender: string; asked: string[]; numbers: string[] }

type Stats = {
  conflicts: number
  logins: number
  device_lookups: number
  new_chat_queries: number
  /** Messages with a token that is wrong, foreign or expired. */
  invalid_tokens: number
  /** Messages that a phone could not decrypt. */
  undecryptable: number
  retries: number
  /** What no client of WhatsApp does, by kind. */
  unknown: Record<string, number>
}

/** Longer than a test. */
const offlineMsMax = 600_000

export function makePhones(controlUrl: string): Phones {
  async function stats() {
    const response = await fetch(`${controlUrl}/stats`)
    return (await response.json()) as Stats & { connections: Record<string, number> }
  }

  async function post(path: string, fields: Record<string, unknown>): Promise<Response> {
    return fetch(`${controlUrl}${path}`, { method: 'POST', body: JSON.stringify(fields) })
  }

  async function get<Result>(path: string): Promise<Result> {
    return (await (await fetch(`${controlUrl}${path}`)).json()) as Result
  }

  async function lines<Line>(path: string): Promise<Line[]> {
    const text = await (await fetch(`${controlUrl}${path}`)).text()
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line)
  }

  async function startFault(request: Record<string, unknown>): Promise<string> {
    const response = await post('/faults', request)
    if (!response.ok) throw new Error(`The simulator refuses the fault: ${await response.text()}`)
    return ((await response.json()) as { id: string }).id
  }

  const listFaults = () => get<{ id: string; kind: string; sender?: string }[]>('/faults')

  async function clearFault(id: string): Promise<void> {
    await fetch(`${controlUrl}/faults/${id}`, { method: 'DELETE' })
  }

  return {
    async scan(qr, number) {
      const response = await post('/scan', { qr, number })
      const { ok, error } = (await response.json()) as { ok: boolean; error?: string }
      if (!ok) throw new Error(`The phone ${number} could not scan: ${error}`)
    },
    async countConnected() {
      const { connections } = await stats()
      return Object.keys(connections).length
    },
    stats,
    async fault(request) {
      await startFault(request)
    },
    faults: listFaults,
    clearFault,
    async clearFaultsOf(sender) {
      const own = (await listFaults()).filter((fault) => fault.sender === sender)
      await Promise.all(own.map(({ id }) => clearFault(id)))
    },
    async keepOffline(sender) {
      const id = await startFault({ kind: 'drop', sender, ms: offlineMsMax })
      return () => clearFault(id)
    },
    async clearFaults() {
      await fetch(`${controlUrl}/faults`, { method: 'DELETE' })
    },
    receivedBy: (number) => get(`/chats/${number}/messages`),
    async write(from, to, text) {
      const response = await post(`/chats/${from}/send`, { to, text })
      const { ok, error, wa_message_id: waId } = (await response.json()) as Record<string, unknown>
      if (!ok) throw new Error(`The phone ${from} could not write: ${error}`)
      return String(waId)
    },
    async writeMany(messages) {
      const response = await post('/send-many', { messages })
      const body = (await response.json()) as { ok: boolean; error?: string; wa_message_ids: string[] }
      if (!body.ok) throw new Error(`The phones could not write: ${body.error}`)
      return body.wa_message_ids
    },
    async givePast(number, past) {
      const response = await post(`/chats/${number}/past`, past)
      if (!response.ok) throw new Error(`The phone ${number} got no past: ${await response.text()}`)
    },
    async read(number, waId) {
      const response = await post(`/chats/${number}/read`, { wa_message_id: waId })
      return response.ok
    },
    log: () => lines('/log'),
    logins: () => lines('/logins'),
    lookups: () => lines('/lookups'),
  }
}
