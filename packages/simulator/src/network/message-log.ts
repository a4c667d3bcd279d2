const entriesMax = 200_000
const sliceAt = entriesMax + 50_000

export type LogEntry = {
  t: string
  connection: number
  sender: string
  wa_message_id: string
  recipient: string
  text?: string
  /** `ok`, the code of an error ack, `dropped`, or null while it is still to be sent. */
  ack: string | null
  duplicate: boolean
}

/** What the servers saw of the last messages that clients sent. */
export class MessageLog {
  #entries: LogEntry[] = []

  add(entry: LogEntry): LogEntry {
    this.#entries.push(entry)
    if (this.#entries.length > sliceAt) this.#entries = this.#entries.slice(-entriesMax)
    return entry
  }

  entries(): LogEntry[] {
    return this.#entries.slice(-entriesMax)
  }
}
