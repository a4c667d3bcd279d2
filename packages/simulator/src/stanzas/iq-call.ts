import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import type { Connection } from '../wire/connection.ts'
import type { Node } from '../wire/node.ts'

/** A request of a client that has logged in. */
export type IqCall = { network: Network; device: Device; connection: Connection; stanza: Node }
