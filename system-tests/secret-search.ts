/** Something that must not be found, and what to call it without showing it. */
export type Secret = { name: string; bytes: Buffer }

/** A text to search: a log, a table, the traffic of a connection. */
export type SearchedText = { name: string; text: string }

/** The beginning is enough: a part of a secret is a leak too. */
const searchedBytesMax = 24

export function secretText(name: string, text: string): Secret {
  return { name, bytes: Buffer.from(text) }
}

/** What was found, as `<secret> as <encoding> in <name>`. Texts are read as Latin-1, so that bytes stay bytes. */
export function findSecrets(texts: SearchedText[], secrets: Secret[]): string[] {
  const needles = secrets.flatMap(({ name, bytes }) => {
    const encodings = encodingsOf(bytes.subarray(0, searchedBytesMax))
    // Some encodings give the same text. The first one names it.
    const byText = new Map(encodings.reverse().map(([encoding, text]) => [text, encoding]))
    return [...byText].map(([text, encoding]) => ({ name, encoding, text }))
  })
  return texts.flatMap((searched) =>
    needles
      .filter(({ text }) => searched.text.includes(text))
      .map(({ name, encoding }) => `${name} as ${encoding} in ${searched.name}`),
  )
}

/** The forms in which programs write bytes down. */
function encodingsOf(bytes: Buffer): [encoding: string, text: string][] {
  const hex = bytes.toString('hex')
  const json = JSON.stringify(bytes.toString()).slice(1, -1)
  const base64 = [0, 1, 2].map((offset) => base64At(bytes, offset))
  return [
    ['bytes', bytes.toString('latin1')],
    ['JSON', Buffer.from(json).toString('latin1')],
    ['a query', encodeURIComponent(bytes.toString())],
    ['hex', hex],
    ['HEX', hex.toUpperCase()],
    ['hex with colons', hex.replaceAll(/..(?=.)/g, '$&:')],
    ['numbers', [...bytes].join(',')],
    ...base64.map((text): [string, string] => ['base64', text]),
    ...base64.map((text): [string, string] => ['base64url', text.replaceAll('+', '-').replaceAll('/', '_')]),
  ]
}

/** In base64, when `offset` modulo 3 bytes precede it, without the characters that also encode its neighbours. */
function base64At(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const sharedBefore = [0, 2, 3][offset]
  const isWhole = (offset + bytes.length) % 3 === 0
  return text.slice(sharedBefore, isWhole ? undefined : -1)
}
