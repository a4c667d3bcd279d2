import { within } from '@wagate/runtime/within'
import type { Connector } from './connector.ts'

/** A handover takes ≤ 1 s; an answer from WhatsApp takes a tenth of that. */
const drainMs = 700
/** Until WhatsApp has seen the end of the connection; otherwise it counts the next login as a second concurrent one. */
const closeGraceMs = 200

/** Ends the connection once the messages on the wire have their answers. */
export async function endGently(connector: Connector): Promise<void> {
  const state = connector.state()
  if (state.kind === 'online') await state.outbox.drain(drainMs)
  await within(closeGraceMs, connector.end())
}
