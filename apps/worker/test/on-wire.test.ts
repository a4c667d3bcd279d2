import { expect, it } from 'vitest'
import { makeOnWire } from '../src/outbox/on-wire.ts'

const recipient = '15550000001@s.whatsapp.net'
const message = (waId: string) => ({ waId, recipient })

it('takes a receipt for an answer: the recipient cannot have what the server did not take', async () => {
  const onWire = makeOnWire()
  const answers = [
    onWire.expect(message('a'), 60_000),
    onWire.expect(message('b'), 60_000),
    onWire.expect(message('c'), 60_000),
  ]
  onWire.settle('a', { kind: 'acknowledged' })
  onWire.settle('b', { kind: 'delivered', saidBy: { jid: '77@lid', otherJid: recipient } })
  onWire.settle('c', { kind: 'refused', code: '463' })
  expect(await Promise.all(answers)).toEqual([
    { kind: 'acknowledged' },
    { kind: 'acknowledged' },
    { kind: 'refused', code: '463' },
  ])
})

it('takes no receipt of anybody but the recipient for an answer', async () => {
  const onWire = makeOnWire()
  const answer = onWire.expect(message('a'), 60_000)
  const stranger = { jid: '15550000002@s.whatsapp.net', otherJid: null }
  expect(onWire.settle('a', { kind: 'read', saidBy: stranger })).toBe(false)
  onWire.settle('a', { kind: 'refused', code: '479' })
  expect(await answer).toEqual({ kind: 'refused', code: '479' })
})

it('says that there was no answer in time, and ignores one that comes later', async () => {
  const onWire = makeOnWire()
  expect(await onWire.expect(message('a'), 1)).toEqual({ kind: 'unanswered' })
  onWire.settle('a', { kind: 'acknowledged' })
})

it('answers everything when the socket is gone', async () => {
  const onWire = makeOnWire()
  const answers = [onWire.expect(message('a'), 60_000), onWire.expect(message('b'), 60_000)]
  onWire.closeAll('stream_ended')
  expect(await Promise.all(answers)).toEqual([{ kind: 'stream_ended' }, { kind: 'stream_ended' }])
})
