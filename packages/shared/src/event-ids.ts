/**
 * The place of an event in the stream, or between two events. `tx` and `id` are whole numbers below 2 ** 48 as decimal text.
 * `seconds`: when it was recorded, in Unix time.
 */
export type EventPosition = { epoch: number; tx: string; id: string; seconds: number }

/** Before all events. */
export const firstPosition: EventPosition = { epoch: 0, tx: '0', id: '0', seconds: 0 }

/** The order of ids is the order of events. */
export function formatEventId({ epoch, tx, id, seconds }: EventPosition): string {
  const hex = (value: string | number, digits: number) => BigInt(value).toString(16).padStart(digits, '0')
  return `evt_${hex(epoch, 8)}${hex(tx, 12)}${hex(id, 12)}${hex(seconds, 8)}`
}

/** Whether one position is before another, whatever their times say. */
export function isEarlier(position: EventPosition, other: EventPosition): boolean {
  const placeOf = (of: EventPosition) => formatEventId({ ...of, seconds: 0 })
  return placeOf(position) < placeOf(other)
}

const eventIdPattern = /^evt_[0-7][0-9a-f]{39}$/

/** Undefined for a text that is not the id of an event. */
export function parseEventId(text: string): EventPosition | undefined {
  if (!eventIdPattern.test(text)) return undefined
  const number = (from: number, to: number) => BigInt(`0x${text.slice(4 + from, 4 + to)}`)
  return {
    epoch: Number(number(0, 8)),
    tx: String(number(8, 20)),
    id: String(number(20, 32)),
    seconds: Number(number(32, 40)),
  }
}
