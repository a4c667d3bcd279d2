/** Why a message has to be sent again, and the number that stands for it in the database. A number never gets another meaning. */
export const setbackMarks = {
  /** No answer in time. */
  unanswered: 16,
  /** The network ended the connection. */
  disconnected: 17,
  /** WhatsApp ended the connection, perhaps because of the message. */
  stream_ended: 18,
  /** With a temporary error. */
  refused: 19,
  /** It could not be sent. */
  send_failed: 20,
  /** Its media could not be prepared. */
  unprepared: 21,
} as const

export type Setback = keyof typeof setbackMarks

/** What else the timeline of a message stores. `sendingAfterTakeover`: while another owner had claimed it. */
export const timelineMarks = { sending: 1, sendingAfterTakeover: 2, failed: 3, canceled: 4 } as const

/** Of an entry: the mark in one byte, and hundredths of a second since the message was created in four. */
export const entryBytes = 5
/** The first entries and the last ones are kept. */
export const entriesMax = { first: 8, last: 24 }

export type TimelineEntry = { mark: number; at: Date }

export function parseTimeline(bytes: Uint8Array | null, createdAt: Date): TimelineEntry[] {
  const view = new DataView(
    bytes?.buffer ?? new ArrayBuffer(0),
    bytes?.byteOffset ?? 0,
    bytes?.byteLength ?? 0,
  )
  return Array.from({ length: Math.floor(view.byteLength / entryBytes) }, (_, index) => ({
    mark: view.getUint8(index * entryBytes),
    at: new Date(createdAt.getTime() + view.getUint32(index * entryBytes + 1) * 10),
  }))
}
