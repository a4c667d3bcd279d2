/** The control interface of the simulated network. */
export type Phones = {
  scan(qr: string, number: string): Promise<void>
  /** Linked devices that are logged in now. */
  countConnected(): Promise<number>
  /** What clients sent, in the order in which it arrived. */
  log(): Promise<LogLine[]>
  /** See the simulator's README for the kinds. */
  fault(request: Record<string, unknown>): Promise<void>
  clearFaults(): Promise<void>
  stats(): Promise<{ conflicts: number; logins: number }>
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
  duplicate: boolean
}

export function makePhones(controlUrl: string): Phones {
  async function stats() {
    const response = await fetch(`${controlUrl}/stats`)
    return (await response.json()) as {
      connections: Record<string, number>
      conflicts: number
      logins: number
    }
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
    async log() {
      const text = await (await fetch(`${controlUrl}/log`)).text()
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as LogLine)
    },
  }
}
