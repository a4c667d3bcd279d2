/** An event as a subscriber got it. Times are in Unix time. */
export type ReadEvent = {
  eventId: string
  recordedAtMs: number
  readAtMs: number
  message: { waId: string; sender: string; text: string | null } | undefined
}

/** The event of an answer or of a request to a webhook. */
export type EventBody = {
  event_id: string
  recorded_at: string
  data: { message?: { wa_message_id: string; sender: string; message: string | null } | null }
}

export function toReadEvent(
  { event_id: eventId, recorded_at, data }: EventBody,
  readAtMs: number,
): ReadEvent {
  const message = data.message && {
    waId: data.message.wa_message_id,
    sender: data.message.sender,
    text: data.message.message,
  }
  return { eventId, recordedAtMs: Date.parse(recorded_at), readAtMs, message: message ?? undefined }
}
