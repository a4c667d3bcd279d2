import { type Network, phoneOfJid } from '../network/network.ts'
import type { Device, TypingNote } from '../network/phone.ts'
import { child, type Node } from '../wire/node.ts'

const notesMax = 1000

/** A companion shows somebody that it is typing. */
export function receiveChatState(network: Network, device: Device, stanza: Node): void {
  const recipient = phoneOfJid(network, stanza.attrs.to)?.phone
  const state = stateOf(stanza)
  if (!recipient || !state) return
  recipient.typing.push({ from: device.phone.number, state, at: new Date().toISOString() })
  if (recipient.typing.length > notesMax) recipient.typing.shift()
}

function stateOf(stanza: Node): TypingNote['state'] | undefined {
  const composing = child(stanza, 'composing')
  if (composing) return composing.attrs.media === 'audio' ? 'recording' : 'composing'
  return child(stanza, 'paused') ? 'paused' : undefined
}
