/** The control interface of the simulated network. */
export type Phones = {
  scan(qr: string, number: string): Promise<void>
  /** Linked devices that are logged in now. */
  countConnected(): Promise<number>
  /** What clients sent, in the order in which it arrived. */
  log(): Promise<LogLine[]>
  /** Who wanted in, in the order in which they came. */
  logins(): Promise<Login[]>
  /** See the simulator's README for the kinds. */
  fault(request: Record<string, unknown>): Promise<void>
  clearFaults(): Promise<void>
  stats(): Promise<Stats>
}

export type LogLine = {
  /** When it arrived, ISO 8601. */
  t: string
  /** Rises with every connection that the network took. */
  connection: number
  sender: string
  recipient: string
  wa_message_id: string
  ack: string | null
  /** The recipient's receipt went out. */
  receipt: boolean
  duplicate: boolean
}

type Login = {
  t: string
  connection: number
  sender: string
  /** `ok`, the code of a refusal, or `dropped`. */
  result: string
}

type Stats = { conflicts: number; logins: number; device_lookups: number }

export function makePhones(controlUrl: string): Phones {
  async function stats() {
    const response = await fetch(`${controlUrl}/stats`)
    return (await response.json()) as Stats & { connections: Record<string, number> }
  }

  async function lines<Line>(path: string): Promise<Line[]> {
    const text = await (await fetch(`${controlUrl}${path}`)).text()
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line)
  }

  return {
    async scan(qr, number) {
      const response = await fetch(`${controlUrl}/scan`, {
        method: 'POST',
        body: JSON.stringify({ qr, number }),
      })
      const { ok, error } = (await response.json()) as { ok: boolean; error?: string }
      if (!ok) throw new Error(`The phone ${number} could not scan: ${error}`)
    },
    async countConnected() {
      const { connections } = await stats()
      return Object.keys(connections).length
    },
    stats,
    async fault(request) {
      const response = await fetch(`${controlUrl}/faults`, { method: 'POST', body: JSON.stringify(request) })
      if (!response.ok) throw new Error(`The simulator refuses the fault: ${await response.text()}`)
    },
    async clearFaults() {
      await fetch(`${controlUrl}/faults`, { method: 'DELETE' })
    },
    log: () => lines('/log'),
    logins: () => lines('/logins'),
  }
}
