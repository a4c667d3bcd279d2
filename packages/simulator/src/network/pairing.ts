import type { Connection } from '../wire/connection.ts'
import type { Device, KeyBundle, Phone } from './phone.ts'

/** A connection that shows a QR code, or whose code was scanned and that has not signed yet. */
export type Pairing = {
  connection: Connection
  noiseKey: Buffer
  bundle: KeyBundle
  platform: string
  refs: string[]
  scanned: Scanned | undefined
}

type Scanned = {
  phone: Phone
  details: Uint8Array
  replyId: string
  linked: (device: Device) => void
  failed: (error: Error) => void
}
