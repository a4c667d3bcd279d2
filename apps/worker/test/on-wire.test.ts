import { expect, it } from 'vitest'
import { makeOnWire } from '../src/outbox/on-wire.ts'

it('takes a receipt for an answer: the recipient cannot have what the server did not take', async () => {
  const onWire = makeOnWire()
  const answers = [onWire.expect('a', 60_000), onWire.expect('b', 60_000), onWire.expect('c', 60_000)]
  onWire.settle('a', { kind: 'acknowledged' })
  onWire.settle('b', { kind: 'delivered', at: new Date() })
  onWire.settle('c', { kind: 'refused', code: '463' })
  expect(await Promise.all(answers)).toEqual([
    { kind: 'acknowledged' },
    { kind: 'acknowledged' },
    { kind: 'refused', code: '463' },
  ])
})

it('says that there was no answer in time, and ignores one that comes later', async () => {
  const onWire = makeOnWire()
  expect(await onWire.expect('a', 1)).toEqual({ kind: 'unanswered' })
  onWire.settle('a', { kind: 'acknowledged' })
})

it('answers everything when the socket is gone', async () => {
  const onWire = makeOnWire()
  const answers = [onWire.expect('a', 60_000), onWire.expect('b', 60_000)]
  onWire.closeAll('stream_ended')
  expect(await Promise.all(answers)).toEqual([{ kind: 'stream_ended' }, { kind: 'stream_ended' }])
})
