import { expect, test } from 'vitest'
import { addressPairs } from '../src/session/contacts/learn-addresses.ts'

const [pn, lid] = ['4915100000001@s.whatsapp.net', '1000000000000001@lid']
const pair = { pn, lid }

test.each([
  ['a receipt from a number', { from: pn, sender_lid: lid }, [pair]],
  ['a receipt from a device at a LID', { from: '1000000000000001:3@lid', sender_pn: pn }, [pair]],
  ['a participant, not the group', { from: '1@g.us', participant: lid, participant_pn: pn }, [pair]],
  ['a notification', { from: pn, lid }, [pair]],
  ['an own message to a recipient', { from: pn, recipient: lid, peer_recipient_pn: pn }, [pair]],
  ['one address only', { from: pn }, []],
  ['twice the same kind', { from: pn, sender_pn: pn }, []],
  ['a group', { from: '1@g.us', sender_pn: pn }, []],
  ['none', {}, []],
])('learns from %s', (_, attrs, expected) => {
  expect(addressPairs(attrs)).toEqual(expected)
})
