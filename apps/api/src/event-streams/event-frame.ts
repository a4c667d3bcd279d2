import { formatEventId } from '@wagate/shared/event-ids'
import { type EventRow, toEventObject } from '@wagate/shared/objects/event-object'
import type { MediaLinker } from '@wagate/shared/objects/media-object'

/** An event in the format of https://html.spec.whatwg.org/multipage/server-sent-events.html, and what filters ask for. */
export type EventFrame = { cursor: string; type: number; deviceId: number | null; bytes: Uint8Array }

const encoder = new TextEncoder()

/** Clients connect again after this time. */
export const opening = encoder.encode('retry: 2000\n\n')

export function toFrame(event: EventRow, linkTo: MediaLinker): EventFrame {
  const { position, type, deviceId } = event
  const cursor = formatEventId(position)
  const object = toEventObject(event, linkTo)
  const bytes = encoder.encode(`id: ${cursor}\nevent: ${object.type}\ndata: ${JSON.stringify(object)}\n\n`)
  return { cursor, type, deviceId, bytes }
}

/** A comment, and the id with which a client resumes after the events that its filter has left out. */
export function toHeartbeat(cursor: string): Uint8Array {
  return encoder.encode(`: heartbeat\nid: ${cursor}\n\n`)
}
