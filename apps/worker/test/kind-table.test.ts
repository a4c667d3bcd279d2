import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isMediaType } from '@wagate/shared/message-kinds'
import { messageContent } from '@wagate/shared/objects/message-content'
import { proto } from 'baileys'
import { describe, expect, test } from 'vitest'
import { findKind } from '../src/session/receiving/kinds/find-kind.ts'
import { kindTable } from '../src/session/receiving/kinds/kind-table.ts'
import { protocolTypes } from '../src/session/receiving/kinds/protocol-types.ts'
import { openUnknown } from '../src/session/receiving/kinds/unknown-kind.ts'
import { unwrap } from '../src/session/receiving/kinds/unwrap.ts'
import { readReceived } from '../src/session/receiving/received.ts'
import { kindSamples } from './kind-samples.ts'

const key = { id: 'A1', fromMe: false, remoteJid: '4915112345678@s.whatsapp.net' }
const pagePath = fileURLToPath(new URL('../../../docs/messages.md', import.meta.url))
const page = readFileSync(pagePath, 'utf8')
const rows = Object.entries(kindTable)

const encode = (message: proto.IMessage) => proto.Message.encode(message).finish()
const read = (message: proto.IMessage) =>
  readReceived({ key, message: proto.Message.decode(encode(message)) })

/** The fields of a message, as Baileys has them. */
const fields = Object.getOwnPropertyNames(proto.Message.prototype).filter(
  (name) => !/^_|^(constructor|toJSON)$/.test(name),
)

test('every field of a message of the protocol is decided', () => {
  expect(fields.length).toBeGreaterThan(90)
  expect(Object.keys(kindTable).toSorted()).toEqual(fields.toSorted())
})

test('every type of protocol message is decided', () => {
  const types = Object.keys(proto.Message.ProtocolMessage.Type).filter((name) => Number.isNaN(Number(name)))
  expect(types.length).toBeGreaterThan(20)
  expect(Object.keys(protocolTypes).toSorted()).toEqual(types.toSorted())
})

test('every kind of message has a sample', () => {
  const sampled = new Set(kindSamples.flatMap(([, message]) => findKind(unwrap(message))?.field ?? []))
  const versions = /^pollCreationMessage$|V2$|^pollCreationMessageV5|SnapshotMessageV3$|^extendedTextMessage/
  const missing = rows.filter(([field, { is }]) => is === 'message' && !sampled.has(field as never))
  expect(missing.map(([field]) => field).filter((field) => !versions.test(field))).toEqual([])
})

describe('a wrapper', () => {
  const wrappers = rows.filter(([, { is }]) => is === 'wrapper').map(([field]) => field)

  test.each(wrappers)('%s does not hide a text', (field) => {
    const inner = { message: { ephemeralMessage: { message: { conversation: 'Hello' } } } }
    expect(read({ [field]: inner })).toMatchObject({ type: 'text', body: 'Hello' })
  })

  test('that this version does not know is opened, because all have one shape', () => {
    const inner = proto.Message.FutureProofMessage.encode({ message: { conversation: 'Hello' } }).finish()
    const header = Buffer.from([...varint(700 * 8 + 2), ...varint(inner.length)])
    expect(openUnknown(Buffer.concat([header, inner]))).toMatchObject({
      content: { conversation: 'Hello' },
      isUnknown: false,
    })
    expect(openUnknown(Buffer.concat([header, Buffer.alloc(inner.length, 255)]))).toEqual({ isUnknown: true })
    expect(openUnknown(encode({ messageContextInfo: {} }))).toEqual({ isUnknown: false })
  })
})

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}

describe('a text that a person can read', () => {
  const listTexts = (value: unknown, path = ''): string[] => {
    if (typeof value === 'string' && /Json$/.test(path)) return listTexts(JSON.parse(value))
    if (typeof value === 'string') return isButtonName.test(value) ? [] : [value]
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
    return Object.entries(value).flatMap(([name, inner]) =>
      isTechnical.test(name) ? [] : listTexts(inner, name),
    )
  }
  const isButtonName = /^(cta_\w+|quick_reply|single_select)$/
  const isTechnical =
    /^(directPath|url|mimetype|attachment.*|key|.*Key|originalStatusId|elementName|vcard|id)$/

  test.each(kindSamples)('is kept of: %s', (_, message) => {
    const kept = JSON.stringify(read(message) ?? null)
    for (const text of listTexts(message)) expect(kept).toContain(JSON.stringify(text).slice(1, -1))
  })
})

test('content is as the API describes it', () => {
  for (const [title, message] of kindSamples) {
    const received = read(message)
    const content = received && 'content' in received ? received.content : null
    if (content) expect(messageContent.strict().safeParse(content).error, title).toBeUndefined()
  }
})

test.each(rows.flatMap(([field, row]) => (row.is === 'ignored' ? [[field, row.because]] : [])))(
  '%s is not kept, and the documentation says why',
  (field = '', because = '') => {
    expect(page).toMatch(new RegExp(`\\| \`${field}\` +\\| ${because} +\\|`))
    expect(read({ [field]: {} })).toBeUndefined()
  },
)

test.each(
  Object.entries(protocolTypes).flatMap(([name, row]) => (row.is === 'ignored' ? [[name, row.because]] : [])),
)('a protocol message %s is no message, and the documentation says why', (name = '', because = '') => {
  expect(page).toMatch(new RegExp(`\\| \`${name}\` +\\| ${because} +\\|`))
  const type = proto.Message.ProtocolMessage.Type[name as keyof typeof proto.Message.ProtocolMessage.Type]
  expect(read({ protocolMessage: { type, key } })).toBeUndefined()
})

const [start, end] = [
  '<!-- samples: npm test -- apps/worker/test/kind-table -u -->',
  '<!-- end of samples -->',
]

test('the documentation shows each kind with its record', async () => {
  const shown = kindSamples.map(
    ([title, message]) => `### ${title}\n\n\`\`\`json\n${recordOf(message)}\n\`\`\`\n`,
  )
  const [before, rest = ''] = page.split(start)
  const [, after = ''] = rest.split(end)
  const written = `${before}${start}\n\n${shown.join('\n')}\n${end}${after}`
  await expect(written).toMatchFileSnapshot(pagePath)
})

/** The fields of a message that differ from kind to kind. */
function recordOf(message: proto.IMessage): string {
  const received = read(message)
  if (!received || 'kind' in received) throw new Error('A sample is no message')
  const { type, body, content, media: file } = received
  const text = isMediaType(type) ? { caption: body } : { message: body }
  const fields = {
    type,
    ...text,
    ...(content && { content }),
    ...(file && { media: { state: 'pending', filename: file.filename } }),
  }
  return JSON.stringify(fields, null, 2)
}
