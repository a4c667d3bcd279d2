import { createHash } from 'node:crypto'
import { deviceJid, deviceLid } from '../network/device.ts'
import { lidJid, parseJid, pnJid } from '../network/jid.ts'
import type { Device, Phone } from '../network/phone.ts'

/**
 * The server's hash of the devices of sender and recipient, if the message left some out. Undefined if it reached all of
 * them.
 */
export function hashOfMissed(
  sender: Device,
  recipient: Phone,
  to: string,
  reached: string[],
): string | undefined {
  const isLid = to.endsWith('@lid')
  const users = new Set([sender.phone, recipient])
  const all = [...users].flatMap((phone) => [
    isLid ? lidJid(phone.number) : pnJid(phone.number),
    ...[...phone.devices.values()].map(isLid ? deviceLid : deviceJid),
  ])
  const got = new Set([...reached, isLid ? deviceLid(sender) : deviceJid(sender)].map(nameOf))
  const names = all.map(nameOf)
  if (names.every((name) => got.has(name))) return undefined
  return hashOf(names)
}

/** Of devices, each named with its agent. A client compares it with a hash of the devices that it knows. */
export function hashOf(names: string[]): string {
  const digest = createHash('sha256').update(names.toSorted().join('')).digest()
  return `2:${digest.subarray(0, 6).toString('base64')}`
}

/** With the agent, which is 0 for people, and with the device, which is 0 for phones. */
function nameOf(jid: string): string {
  const [user, server] = jid.split('@')
  return `${user?.split(':')[0]}.0:${parseJid(jid)?.device ?? 0}@${server}`
}
