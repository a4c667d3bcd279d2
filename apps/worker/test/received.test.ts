import { expect, test } from 'vitest'
import { readSource } from '../src/session/receiving/received-source.ts'

const pn = '4915112345678@s.whatsapp.net'
const lid = '1000000000000017@lid'

test.each([
  ['a number', pn, undefined, '4915112345678', null],
  ['a number and a LID beside it', pn, lid, '4915112345678', lid],
  ['a LID and the number beside it', lid, pn, '4915112345678', lid],
  ['a device of a LID', '1000000000000017:3@lid', pn, '4915112345678', lid],
  ['a LID alone', lid, undefined, null, lid],
  ['a hosted LID alone', '1000000000000017:99@hosted.lid', undefined, null, lid],
  ['another kind of account', '867051314767696@bot', undefined, null, '867051314767696@bot'],
])('reads the addresses of a message from %s', (_, remoteJid, remoteJidAlt, number, contactJid) => {
  expect(readSource({ id: 'A1', fromMe: false, remoteJid, ...(remoteJidAlt && { remoteJidAlt }) })).toEqual({
    waId: 'A1',
    number,
    contactJid,
    isCleaned: false,
  })
})
