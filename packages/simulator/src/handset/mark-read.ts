import { deliver, receiptKey } from '../network/device.ts'
import { isLid, lidJid, pnJid } from '../network/jid.ts'
import { type Network, phoneOf } from '../network/network.ts'
import type { Phone } from '../network/phone.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { node, nowSeconds } from '../wire/node.ts'
import { sendReceipt } from './inbox.ts'
import { markSent } from './outbox.ts'
import { returnAddress } from './return-address.ts'

/** Opens the chat: the sender of the message gets a read receipt. */
export function markRead(network: Network, phone: Phone, id: string): void {
  const matches = [...phone.chat.received.values()].filter(({ message }) => message.wa_message_id === id)
  if (matches.length === 0)
    throw new SimulatorError(
      'The phone has not received this message. Check the number and wa_message_id.',
      404,
    )
  for (const received of matches) {
    if (network.faults.strike('no_receipts', received.origin.number, phone.number))
      throw new SimulatorError(
        'This phone sends no receipts at the moment, because of the fault no_receipts.',
        409,
      )
    received.read = true
    const { number, device, addressedAs } = received.origin
    const sender = phoneOf(network, number)
    const origin = sender.devices.get(device)
    const companions = origin ? [origin] : [...sender.devices.values()]
    const { from } = returnAddress(network, phone, number, isLid(addressedAs) ? 'lid' : 'pn')
    for (const companion of companions) sendReceipt(network, companion, { from, id, type: 'read' })
    markSent(sender, id, 'read')
    tellCompanions(phone, number, addressedAs, id)
  }
}

/** What is read on the phone is read on its companions, too. */
function tellCompanions(phone: Phone, contact: string, addressedAs: string, id: string): void {
  const jidOf = isLid(addressedAs) ? lidJid : pnJid
  const from = jidOf(phone.number)
  const attrs = { from, id, t: nowSeconds(), type: 'read-self', recipient: jidOf(contact) }
  for (const device of phone.devices.values())
    deliver(device, receiptKey(from, id, 'read-self'), node('receipt', attrs))
}
