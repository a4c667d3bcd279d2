import { describe, expect, it } from 'vitest'
import { reachOf } from '../src/session/fan-out.ts'

const own = ['15550000001:3@s.whatsapp.net', '900000000000001:3@lid']
const ownPhone = '15550000001@s.whatsapp.net'
const recipient = '15550000002@s.whatsapp.net'
const companion = '15550000002:5@s.whatsapp.net'

describe('a message that left', () => {
  it.each([
    { encrypted: [ownPhone, recipient, companion], failed: [], reach: 'all' },
    { encrypted: [ownPhone, companion], failed: [recipient], reach: 'part' },
    { encrypted: [recipient], failed: [ownPhone], reach: 'all' },
    { encrypted: [ownPhone], failed: [], reach: 'none' },
    { encrypted: ['900000000000001@lid'], failed: [], reach: 'none' },
    { encrypted: [], failed: [recipient], reach: 'none' },
  ])('for $encrypted, but not $failed, reaches $reach of the recipient', ({ reach, ...fanOut }) => {
    expect(reachOf(fanOut, recipient, own)).toBe(reach)
  })

  it('reaches the sender when it is for the sender', () => {
    expect(reachOf({ encrypted: [ownPhone], failed: [] }, ownPhone, own)).toBe('all')
  })
})
