import { describe, expect, it } from 'vitest'
import { auditHistory } from '../src/load/history.ts'
import type { Sent } from '../src/load/load.ts'

const record = (id: string, status = 'sent', errorCode: string | null = null) => ({
  id,
  waId: `wa-${id}`,
  sender: '1',
  number: '9',
  type: 'text',
  body: `text ${id}`,
  status,
  errorCode,
  createdAtMs: 0,
  sendAtMs: null,
  sentAtMs: 0,
})
const sent = (id: string | undefined, number = '9', further: Partial<Sent> = {}): Sent => ({
  text: `text ${id}`,
  kind: 'text',
  sender: '1',
  number,
  sendAt: undefined,
  messageId: id,
  attempts: [],
  isCanceled: false,
  ...further,
})
const line = (id: string, connection = 1, ack: string | null = 'ok', receipt = false) => ({
  t: '',
  connection,
  sender: '1',
  recipient: '9',
  wa_message_id: `wa-${id}`,
  ack,
  receipt,
  duplicate: false,
})
const nothing = { lost: [], doubled: [], disordered: [], dishonest: [], overlapping: [] }

describe('the history of a load', () => {
  it('is right when everything accepted arrived once and in its order', () => {
    const log = [line('a'), line('b')]
    expect(auditHistory([sent('a'), sent('b'), sent(undefined)], [record('a'), record('b')], log)).toEqual({
      accepted: 2,
      refused: 1,
      repeated: 0,
      violations: nothing,
    })
  })

  it('takes a repeat under the same id, a receipt for an ack, a failure with a code and a straggler of a former owner', () => {
    const records = [record('a'), record('b', 'failed', 'message_expired'), record('c'), record('d')]
    const log = [line('a', 1, 'dropped'), line('a', 2), line('c', 1), line('d', 2, 'dropped', true)]
    const history = auditHistory([sent('a'), sent('b'), sent('c'), sent('d')], records, log)
    expect(history).toMatchObject({ repeated: 1, violations: nothing })
  })

  it.each([
    ['lost: no record', [], [line('a')], { lost: ['text a'], doubled: ['wa-a'] }],
    ['lost: never acknowledged', [record('a', 'queued')], [line('a', 1, 'dropped')], { lost: ['text a'] }],
    ['lost: failed without a code', [record('a', 'failed')], [], { lost: ['text a'] }],
    ['dishonest: sent without an acknowledgement', [record('a')], [], { lost: ['text a'], dishonest: ['a'] }],
    [
      'doubled: on the wire under an unknown id',
      [record('a')],
      [line('a'), line('x')],
      { doubled: ['wa-x'] },
    ],
    [
      'doubled: two records of one request',
      [record('a'), { ...record('b'), body: 'text a' }],
      [line('a'), line('b')],
      { doubled: ['text a'] },
    ],
  ])('finds what is %s', (_what, records, log, found) => {
    expect(auditHistory([sent('a')], records, log).violations).toEqual({ ...nothing, ...found })
  })

  it('takes a cancellation that the client asked for, and finds one that the client did not ask for', () => {
    const history = (isCanceled: boolean) =>
      auditHistory([sent('a', '9', { kind: 'canceled', isCanceled })], [record('a', 'canceled')], [])
    expect(history(true).violations).toEqual(nothing)
    expect(history(false).violations).toEqual({ ...nothing, lost: ['text a'] })
  })

  it('takes it for an acknowledgement that the recipient has opened the message', () => {
    const log = [line('a', 1, 'dropped')]
    expect(auditHistory([sent('a')], [record('a', 'read')], log, ['wa-a']).violations).toEqual(nothing)
  })

  it('lets a scheduled message leave between the others', () => {
    const scheduled = sent('a', '9', { kind: 'scheduled', sendAt: '2026-01-01T00:00:00Z' })
    const records = [record('a'), record('b')]
    expect(auditHistory([scheduled, sent('b')], records, [line('b'), line('a')]).violations).toEqual(nothing)
  })

  it('finds what overtook an earlier message to the same recipient, and to no other', () => {
    const records = [record('a'), record('b'), record('c')]
    const log = [line('b'), line('a'), line('c')]
    const history = (number: string) => auditHistory([sent('a'), sent('b', number), sent('c')], records, log)
    expect(history('9').violations).toEqual({ ...nothing, disordered: ['text a'] })
    expect(history('8').violations).toEqual(nothing)
  })

  it('finds a worker that goes on after the next one has begun', () => {
    const records = [record('a'), record('b'), record('c')]
    const log = [line('a', 2), line('b', 1), line('c', 1)]
    expect(auditHistory([sent('a'), sent('b', '8'), sent('c', '7')], records, log).violations).toEqual({
      ...nothing,
      overlapping: ['1 through connection 1'],
    })
  })
})
