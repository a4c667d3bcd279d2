import { proto } from 'baileys'
import { describe, expect, test } from 'vitest'
import { readReceived } from '../src/session/receiving/received.ts'

const number = '4915112345678'
const key = { id: 'A1', fromMe: false, remoteJid: `${number}@s.whatsapp.net` }

/** As it arrives: encoded by the phone of the contact. */
function read(message: proto.IMessage) {
  return readReceived({ key, message: proto.Message.decode(proto.Message.encode(message).finish()) })
}

const card = (tel: string) => `BEGIN:VCARD\nVERSION:3.0\nFN:Ada\n${tel}\nEND:VCARD`
const location = { degreesLatitude: 52.5, degreesLongitude: 13.4 }
const place = { latitude: 52.5, longitude: 13.4, name: null, address: null, url: null, is_live: false }
const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type
const own = { id: 'B2', fromMe: true, remoteJid: '4915100000000@s.whatsapp.net' }

describe('a message', () => {
  test.each<[string, proto.IMessage, object]>([
    ['a location', { locationMessage: location }, { type: 'location', content: { location: place } }],
    [
      'a live location',
      { liveLocationMessage: { ...location, caption: 'here' } },
      { type: 'location', body: 'here', content: { location: { ...place, is_live: true } } },
    ],
    [
      'a contact card',
      { contactMessage: { displayName: 'Ada', vcard: card('item1.TEL;waid=4917:+49 17') } },
      {
        type: 'contacts',
        body: 'Ada',
        content: {
          contacts: [{ name: 'Ada', numbers: ['+49 17'], vcard: expect.stringContaining('FN:Ada') }],
        },
      },
    ],
    [
      'a poll',
      { pollCreationMessageV3: { name: 'Day?', options: [{ optionName: 'Mo' }], selectableOptionsCount: 1 } },
      { type: 'poll', body: 'Day?', content: { poll: { name: 'Day?', options: ['Mo'], selectable: 1 } } },
    ],
    [
      'a chosen button',
      { buttonsResponseMessage: { selectedButtonId: 'yes', selectedDisplayText: 'Yes' } },
      { type: 'text', body: 'Yes', content: { choice: { id: 'yes', title: 'Yes' } } },
    ],
    [
      'an interactive reply',
      {
        interactiveResponseMessage: {
          body: { text: 'Yes' },
          nativeFlowResponseMessage: { paramsJson: '{"id":"y"}' },
        },
      },
      { type: 'text', content: { choice: { id: 'y', title: 'Yes' } } },
    ],
    [
      'a sticker',
      { stickerMessage: { mimetype: 'image/webp' } },
      { type: 'sticker', body: null, content: null },
    ],
    [
      'a view-once picture in a disappearing chat',
      {
        ephemeralMessage: { message: { viewOnceMessageV2: { message: { imageMessage: { caption: 'x' } } } } },
      },
      { type: 'image', body: 'x', content: { is_view_once: true } },
    ],
    [
      'a forwarded text',
      { extendedTextMessage: { text: 'x', contextInfo: { isForwarded: true } } },
      { type: 'text', body: 'x', content: { is_forwarded: true } },
    ],
    [
      'a reply',
      {
        extendedTextMessage: {
          text: 'yes',
          contextInfo: {
            stanzaId: 'Q1',
            participant: '4915100000000@s.whatsapp.net',
            quotedMessage: { imageMessage: { caption: 'nice?' } },
          },
        },
      },
      { body: 'yes', quoted: { waId: 'Q1', from_me: true, type: 'image', text: 'nice?' } },
    ],
    ...['120363000000000001@g.us', 'status@broadcast'].map((remoteJid): [string, proto.IMessage, object] => [
      `a private answer to what a third person wrote in ${remoteJid}`,
      {
        extendedTextMessage: {
          text: 'yes',
          contextInfo: { stanzaId: 'Q1', participant: '4915100000099@s.whatsapp.net', remoteJid },
        },
      },
      { quoted: { waId: 'Q1', from_me: null } },
    ]),
    [
      'an empty wrapper, whose content is not known',
      { ephemeralMessage: { message: {} } },
      { type: 'other', body: null, content: { kind: 'unknown' } },
    ],
  ])('is read from %s', (_, message, expected) => {
    expect(read(message)).toMatchObject({ waId: 'A1', number, isCleaned: false, ...expected })
  })
})

describe('a change', () => {
  test.each<[string, proto.IMessage, object | undefined]>([
    [
      'a reaction',
      { reactionMessage: { key: own, text: '👍' } },
      { kind: 'reaction', fromMe: false, text: '👍' },
    ],
    [
      'a removed reaction to a message of the sender',
      { reactionMessage: { key: { ...own, fromMe: false }, text: '' } },
      { kind: 'reaction', fromMe: true, text: null },
    ],
    [
      'an edit',
      {
        editedMessage: {
          message: {
            protocolMessage: { key: own, type: MESSAGE_EDIT, editedMessage: { conversation: 'new' } },
          },
        },
      },
      { kind: 'edited', target: 'B2', text: 'new' },
    ],
    [
      'an edit that cannot be decrypted',
      { secretEncryptedMessage: { targetMessageKey: own, encPayload: Buffer.alloc(9) } },
      { kind: 'edited', target: 'B2', text: null, isUnread: true },
    ],
    ['a deletion', { protocolMessage: { key: own, type: REVOKE } }, { kind: 'deleted', target: 'B2' }],
    ['a vote', { pollUpdateMessage: { pollCreationMessageKey: own } }, { kind: 'poll_vote', target: 'B2' }],
    [
      'no deletion of a message of the sender',
      { protocolMessage: { key: { ...own, fromMe: false }, type: REVOKE } },
      undefined,
    ],
    ['no deletion without a type', { protocolMessage: { key: own } }, undefined],
    ['nothing without a target', { reactionMessage: { text: '👍' } }, undefined],
  ])('is read: %s', (_, message, expected) => {
    const received = read(message)
    if (expected) expect(received).toMatchObject({ waId: 'A1', number, ...expected })
    else expect(received).toBeUndefined()
  })
})

describe('hostile content', () => {
  test('is bounded and has nothing that Postgres refuses', () => {
    const bad = `\0\ud83d${'x'.repeat(100_000)}`
    const vcard = card(`TEL:${bad}`)
    const contacts = Array.from({ length: 5000 }, () => ({ displayName: bad, vcard }))
    const options = Array.from({ length: 5000 }, () => ({ optionName: bad }))
    const contextInfo = { stanzaId: bad, quotedMessage: { conversation: bad } }
    const rows = Array(500).fill({ rowId: bad, title: bad, description: bad })
    const params = JSON.stringify({
      display_text: bad,
      id: bad,
      sections: [{ title: bad, rows: [{ id: bad }] }],
    })
    const buttons = Array(500).fill({ name: bad, buttonParamsJson: params })
    const interactive = {
      nativeFlowMessage: { buttons: [...buttons, { buttonParamsJson: '['.repeat(50_000) }] },
    }
    const messages: proto.IMessage[] = [
      { contactsArrayMessage: { displayName: bad, contacts, contextInfo } },
      { pollCreationMessage: { name: bad, options, selectableOptionsCount: 2 ** 31, contextInfo } },
      { locationMessage: { ...location, name: bad, address: bad, url: bad, comment: bad, contextInfo } },
      { listResponseMessage: { title: bad, singleSelectReply: { selectedRowId: bad }, contextInfo } },
      { reactionMessage: { key: { ...own, id: bad }, text: bad } },
      { interactiveMessage: { body: { text: bad }, header: { title: bad }, ...interactive, contextInfo } },
      { interactiveMessage: { ...interactive, carouselMessage: { cards: Array(500).fill(interactive) } } },
      { listMessage: { title: bad, sections: Array(500).fill({ title: bad, rows }), contextInfo } },
      { highlyStructuredMessage: { elementName: bad, params: Array(500).fill(bad) } },
    ]
    for (const message of messages) {
      // Not encoded, which would replace half a pair before it is read.
      const received = readReceived({ key, message })
      const { body: _, ...rest } = { body: null, ...received }
      const json = JSON.stringify(rest)
      expect(received?.isCleaned).toBe(true)
      expect(json.length).toBeLessThan(40_000)
      expect(json).not.toMatch(/\\u0000|\\ud83d/)
    }
  })

  test.each([
    [Number.NaN, 0],
    [91, 0],
    [0, Number.POSITIVE_INFINITY],
  ])('such as the position %s, %s is left out', (degreesLatitude, degreesLongitude) => {
    expect(read({ locationMessage: { degreesLatitude, degreesLongitude } })).toMatchObject({
      type: 'location',
      content: null,
    })
  })

  test('such as deep wrappers and broken parameters does no harm', () => {
    let message: proto.IMessage = { conversation: 'x' }
    for (let depth = 0; depth < 50; depth++) message = { ephemeralMessage: { message } }
    expect(() => read(message)).not.toThrow()
    const paramsJson = '{"id":'
    expect(read({ interactiveResponseMessage: { nativeFlowResponseMessage: { paramsJson } } })).toMatchObject(
      {
        content: { choice: { id: null, title: null } },
      },
    )
  })
})
