import { sendFromHandset } from '../handset/outbox.ts'
import { type Network, phoneOf } from '../network/network.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { checkNumber } from './check-number.ts'

type BulkText = { from: string; to: string; text: string }

const messagesMax = 1000

/** Actions of many people at the same time, for load tests. */
export type BulkActions = {
  /** Each person writes, in this order. Nothing is sent if one of the numbers is not valid. */
  sendMany: (request: { messages: BulkText[] }) => Promise<{ ok: true; wa_message_ids: string[] }>
}

export function bulkActions(network: Network): BulkActions {
  return {
    async sendMany({ messages }) {
      if (messages.length > messagesMax)
        throw new SimulatorError(`messages has more than ${messagesMax} entries. Send them in parts.`)
      for (const { from, to } of messages) for (const number of [from, to]) checkNumber(number)
      const wa_message_ids: string[] = []
      for (const { from, to, text } of messages)
        wa_message_ids.push(await sendFromHandset(network, phoneOf(network, from), to, { text }))
      return { ok: true, wa_message_ids }
    },
  }
}
