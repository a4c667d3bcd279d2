import type { Proof } from './new-chats.ts'

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
  /** Which proof the message carries that its sender may write to the recipient. */
  token: Proof
  /** The sender got a receipt from the recipient, which proves that the message was accepted. */
  receipt: boolean
  duplicate: boolean
  /** Devices of the recipient that it was encrypted for. */
  devices: number[]
}

/** A login attempt of a linked companion, or of one that is not linked yet and was refused: its `sender` is empty. */
export type LoginEntry = {
  t: string
  connection: number
  sender: string
  /** The number of the companion. */
  device: number
  /** Of the client, such as 2.3000.1043857760. */
  version: string
  /** `ok`, the code of a refusal, or `dropped`. */
  result: string
}

/** A query about users (usync) that a client sent, refused ones included. */
export type LookupEntry = {
  t: string
  connection: number
  sender: string
  /** What was asked: `contact` (whether they are on WhatsApp), `devices`, `lid`. */
  asked: string[]
  numbers: string[]
}

/** A stanza that the simulator does not implement, or that no client of WhatsApp sends. */
export type UnknownEntry = {
  t: string
  sender: string
  /** As the counter of this name counts it. */
  kind: string
  /** The stanza in XML, bytes by their number. Null for one that is missing. */
  stanza: string | null
}

/** The most recent events on the servers. */
export class RecentLog<Entry> {
  readonly #entriesMax: number
  #entries: Entry[] = []

  constructor(entriesMax = 200_000) {
    this.#entriesMax = entriesMax
  }

  add(entry: Entry): Entry {
    this.#entries.push(entry)
    if (this.#entries.length > this.#entriesMax * 1.25) this.#entries = this.entries()
    return entry
  }

  entries(): Entry[] {
    return this.#entries.slice(-this.#entriesMax)
  }
}
