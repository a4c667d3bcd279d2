/** Date, time of day, and whatever follows: a zone, or nothing. */
const written =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)? ?([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?|\d\d:?\d\d)?$/

/** Of the years 2001 to 2286. */
const unixSeconds = /^\d{10}(?:\.\d{1,9})?$/
/** Of the same years. */
const unixMilliseconds = /^\d{13}$/

const charsMax = 50
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * A time as programs write it: ISO 8601 with a zone, also as PHP (`+0200`) and Python (a space, microseconds) print it, or Unix
 * time. `no_zone` for a local time, which would have a different meaning on another server.
 */
export function parseMoment(given: string | number): Date | 'no_zone' | undefined {
  const text = String(given).trim()
  if (text.length > charsMax) return undefined
  if (unixMilliseconds.test(text)) return new Date(Number(text))
  if (unixSeconds.test(text)) return new Date(Math.trunc(Number(text) * 1000))
  const parts = written.exec(text)
  if (!parts) return /^\d{4}-\d\d-\d\d$/.test(text) ? 'no_zone' : undefined
  const [, year, month, day, hour, minute, second = '0', fraction = '', zone] = parts
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const fields = [
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  ] as const
  const localMs = Date.UTC(...fields, milliseconds)
  // Date.UTC turns 30 February into 2 March.
  const isReal = new Date(localMs)
    .toISOString()
    .startsWith(`${year}-${month}-${day}T${hour}:${minute}:${second.padStart(2, '0')}`)
  if (!isReal) return undefined
  if (zone === undefined) return 'no_zone'
  const offsetMs = offsetOf(zone)
  if (offsetMs === undefined) return undefined
  const ms = localMs - offsetMs
  // Postgres has no year 0000, and ISO 8601 writes years beyond 9999 in a form that Postgres cannot read.
  return ms >= 0 && ms <= latestMs ? new Date(ms) : undefined
}

/** In a URL, a + that is not encoded becomes a space. A minus stays, so four digits after a space are east of UTC. */
function offsetOf(zone: string): number | undefined {
  if (/^[a-z]/i.test(zone)) return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const digits = zone.replaceAll(/\D/g, '')
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2) || 0)]
  return hours < 24 && minutes < 60 ? sign * (hours * 60 + minutes) * 60_000 : undefined
}
