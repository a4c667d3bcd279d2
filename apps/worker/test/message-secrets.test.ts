import { createCipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { decryptPollVote, proto, type WAMessageKey } from 'baileys'
import { describe, expect, test } from 'vitest'
import { openWithSecret } from '../src/session/credentials/secret-cipher.ts'
import { secretOf } from '../src/session/receiving/kept-secret.ts'

const secret = randomBytes(32)
const waId = 'P1'
const [contact, contactLid] = ['4915112345678@s.whatsapp.net', '1000000000000017@lid']
const [own, ownLid] = ['4915100000000@s.whatsapp.net', '1000000000000029@lid']
const hash = createHash('sha256').update('Mo').digest()
const plaintext = proto.Message.PollVoteMessage.encode({ selectedOptions: [hash] }).finish()

/** As the phone of the voter does it, under the addresses that it uses. */
function vote(author: string, voter: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `${waId}${author}${voter}Poll Vote`, 32))
  const encIv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, encIv).setAAD(Buffer.from(`${waId}\0${voter}`))
  const encPayload = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  return { encPayload, encIv }
}

describe('a vote', () => {
  const origin = { secret, waId, authors: [own, ownLid], senders: [contact, contactLid] }

  test.each([
    [own, contact],
    [ownLid, contactLid],
    [own, contactLid],
  ])('is opened as Baileys opens it, under %s and %s', (author, voter) => {
    const sealed = vote(author, voter)
    const opened = openWithSecret('Poll Vote', sealed, origin)
    const ids = { pollCreatorJid: author, pollMsgId: waId, pollEncKey: secret, voterJid: voter }
    expect(opened && proto.Message.PollVoteMessage.decode(opened)).toEqual(decryptPollVote(sealed, ids))
  })

  test.each([
    ['of another contact', vote(own, '4915187654321@s.whatsapp.net')],
    ['that was changed', { ...vote(own, contact), encIv: randomBytes(12) }],
    ['without content', {}],
    ['that is too short', { encPayload: randomBytes(3), encIv: randomBytes(12) }],
  ])('%s is not opened', (_, sealed) => {
    expect(openWithSecret('Poll Vote', sealed, origin)).toBeUndefined()
  })
})

describe('the secret of a message', () => {
  const messageContextInfo = { messageSecret: secret }
  const poll = (count: number) => ({
    messageContextInfo,
    pollCreationMessageV3: { options: Array.from({ length: count }, (_, n) => ({ optionName: `${n}` })) },
  })
  const from = (fromMe: boolean, remoteJid: string): WAMessageKey => ({ id: waId, fromMe, remoteJid })

  test.each<[string, WAMessageKey, proto.IMessage, object | undefined]>([
    ['a poll', from(false, contact), poll(2), { of: 'poll', id: `${contact}|P1` }],
    ['a poll of the own phone', from(true, contact), poll(2), { of: 'poll', id: 'me|P1' }],
    ['a poll with too many options', from(false, contact), poll(21), undefined],
    ['a poll in a group', from(true, '1@g.us'), poll(2), undefined],
    [
      'a text',
      from(false, `1000000000000017:3@lid`),
      { messageContextInfo, conversation: 'Hi' },
      { of: 'text', id: `${contactLid}|P1` },
    ],
    [
      'a text of the own phone',
      from(true, contact),
      { messageContextInfo, conversation: 'Hi' },
      { of: 'text', id: 'me|P1' },
    ],
    ['a text without one', from(false, contact), { conversation: 'Hi' }, undefined],
    ['a sticker', from(false, contact), { messageContextInfo, stickerMessage: {} }, undefined],
  ])('is kept as far as it is needed: %s', (_, key, content, expected) => {
    if (expected) expect(secretOf(key, content)).toMatchObject(expected)
    else expect(secretOf(key, content)).toBeUndefined()
  })
})
