import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'

/** The addresses of a name. `missing`: there is no such name. `silent`: no answer at all. */
export type DnsAnswer = string[] | 'missing' | 'failing' | 'silent' | 'garbage'

export type DnsServer = {
  /** `127.0.0.1:<port>`, as name servers are written. */
  address: string
  /** The names that were asked for, in the order of their first requests. */
  asked: Set<string>
  /** How many requests have come, repeated ones too. */
  requests(): number
  close(): void
}

const types = { 1: 'A', 28: 'AAAA' } as const
const [serverFailure, noSuchName] = [2, 3]

/** A name server of this machine (RFC 1035, over UDP). */
export async function startDnsServer(answerOf: (name: string) => DnsAnswer): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const asked = new Set<string>()
  let requests = 0
  socket.on('message', (request, { port, address }) => {
    const { name, type, end } = questionOf(request)
    asked.add(name)
    requests += 1
    const answer = answerOf(name)
    if (answer === 'silent') return
    socket.send(
      answer === 'garbage' ? request.subarray(0, 7) : replyTo(request, end, type, answer),
      port,
      address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    requests: () => requests,
    close: () => socket.close(),
  }
}

function questionOf(request: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = request[at] ?? 0; length > 0; length = request[at] ?? 0) {
    labels.push(request.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  // c-ares writes names in letters of random case.
  return {
    name: labels.join('.').toLowerCase(),
    type: types[request.readUInt16BE(at + 1) as 1 | 28],
    end: at + 5,
  }
}

function replyTo(
  request: Buffer,
  end: number,
  type: 'A' | 'AAAA' | undefined,
  answer: string[] | 'missing' | 'failing',
): Buffer {
  const addresses = Array.isArray(answer)
    ? answer.filter((address) => isIPv6(address) === (type === 'AAAA')).map(bytesOf)
    : []
  const header = Buffer.alloc(12)
  request.copy(header, 0, 0, 2)
  const status = answer === 'missing' ? noSuchName : answer === 'failing' ? serverFailure : 0
  // An answer (QR), with recursion desired and available.
  header.writeUInt16BE(0x8180 | status, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses.length, 6)
  return Buffer.concat([header, request.subarray(12, end), ...addresses.map(recordOf)])
}

function recordOf(address: Buffer): Buffer {
  const head = Buffer.alloc(12)
  // The name of the question, by its place.
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(address.length === 4 ? 1 : 28, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(address.length, 10)
  return Buffer.concat([head, address])
}

/** IPv6 addresses are written in full, or with `::`. */
function bytesOf(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number))
  const [start = '', rest] = address.split('::')
  const groupsOf = (part: string | undefined) => (part ? part.split(':') : [])
  const [before, after] = [groupsOf(start), groupsOf(rest)]
  const zeros: string[] = Array(8 - before.length - after.length).fill('0')
  const groups = [...before, ...zeros, ...after]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
