const entriesMax = 200_000
const sliceAt = entriesMax + 50_000

/** A message that a client sent. */
export type LogEntry = {
  t: string
  connection: number
  sender: string
  wa_message_id: string
  recipient: string
  text?: string
  /** `ok`, the code of an error ack, `dropped`, or null while it is still to be sent. */
  ack: string | null
  /** Its sender got a receipt of the recipient, from which it knows that the message was taken. */
  receipt: boolean
  duplicate: boolean
}

/** A linked companion that wants in. */
export type LoginEntry = {
  t: string
  connection: number
  sender: string
  /** `ok`, the code of a refusal, or `dropped`. */
  result: string
}

/** What the servers saw last. */
export class RecentLog<Entry> {
  #entries: Entry[] = []

  add(entry: Entry): Entry {
    this.#entries.push(entry)
    if (this.#entries.length > sliceAt) this.#entries = this.#entries.slice(-entriesMax)
    return entry
  }

  entries(): Entry[] {
    return this.#entries.slice(-entriesMax)
  }
}
