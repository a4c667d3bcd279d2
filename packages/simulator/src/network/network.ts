import type { Mail } from '../mail/mailbox.ts'
import type { ServerCertificate } from '../wire/certificate.ts'
import type { Connection } from '../wire/connection.ts'
import type { Faults } from './faults.ts'
import { parseJid } from './jid.ts'
import type { MediaStore } from './media-store.ts'
import type { Pairing } from './pairing.ts'
import { type Device, makePhone, type Phone } from './phone.ts'
import type { LogEntry, LoginEntry, LookupEntry, RecentLog, UnknownEntry } from './recent-log.ts'
import type { State } from './state.ts'
import type { Counters } from './stats.ts'
import type { WebVersion } from './web-version.ts'

/** The whole state of one simulated network. */
export type Network = {
  /** Whether handsets decrypt messages. False saves half of the CPU under load. */
  decrypt: boolean
  certificate: ServerCertificate
  mediaHost: string
  phones: Map<string, Phone>
  connections: Map<Connection, Client>
  /** Companions that show a QR code, by each of its refs. */
  pairings: Map<string, Pairing>
  faults: Faults
  webVersion: WebVersion
  media: MediaStore
  /** Of the mail server, the newest last. Empty without one. */
  mails: Mail[]
  log: RecentLog<LogEntry>
  logins: RecentLog<LoginEntry>
  lookups: RecentLog<LookupEntry>
  unknown: RecentLog<UnknownEntry>
  counters: Counters
  state: State
  /** A bug of the simulator or a client that broke the protocol. */
  reportFailure: (error: unknown) => void
}

/** The role of a connection. */
type Client = { kind: 'unknown' } | { kind: 'pairing'; pairing: Pairing } | { kind: 'device'; device: Device }

/** Every number is on WhatsApp: its phone is created when the number is first used. */
export function phoneOf(network: Network, number: string): Phone {
  const known = network.phones.get(number)
  if (known) return known
  const phone = makePhone(number)
  network.phones.set(number, phone)
  network.state.keysChanged(phone)
  return phone
}

export function phoneOfJid(
  network: Network,
  jid: string | undefined,
): { phone: Phone; device: number } | undefined {
  const parsed = parseJid(jid)
  return parsed && { phone: phoneOf(network, parsed.number), device: parsed.device }
}

export function deviceOf(network: Network, connection: Connection): Device | undefined {
  const client = network.connections.get(connection)
  return client?.kind === 'device' ? client.device : undefined
}
