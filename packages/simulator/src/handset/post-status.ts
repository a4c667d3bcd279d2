import { randomBytes } from 'node:crypto'
import { deliver, messageKey } from '../network/device.ts'
import { pnJid, statusJid } from '../network/jid.ts'
import type { Phone } from '../network/phone.ts'
import { node, nowSeconds } from '../wire/node.ts'
import { newMessageId } from './outbox.ts'

/** Returns its id. No client can decrypt it: the handsets have no sender keys. */
export function postStatus(phone: Phone, to: Phone): string {
  const id = newMessageId()
  const stanza = node(
    'message',
    {
      from: statusJid,
      participant: pnJid(phone.number),
      id,
      t: nowSeconds(),
      type: 'text',
      notify: `+${phone.number}`,
    },
    [node('enc', { v: '2', type: 'skmsg' }, randomBytes(120))],
  )
  for (const device of to.devices.values()) deliver(device, messageKey(id), stanza)
  return id
}
