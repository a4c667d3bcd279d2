import type { Device } from '../network/phone.ts'
import type { LogEntry } from '../network/recent-log.ts'
import type { Ciphertext } from './signal.ts'

/** One message of a companion on its way to a handset. */
export type Arrival = {
  sender: Device
  id: string
  /** The recipient as the sender addressed it: receipts must come from the same address. */
  to: string
  /** This handset as the sender addressed it. */
  handsetJid: string
  sealed: Ciphertext
  stanzaType: string | undefined
  mediaType: string | undefined
  entry: LogEntry
  /** Resolves when the server has acknowledged: a receipt must not arrive before the ack. */
  acknowledged: Promise<void> | undefined
}
