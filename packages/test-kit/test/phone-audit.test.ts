import { describe, expect, it } from 'vitest'
import { auditPhones, type Sides } from '../src/load/phone-audit.ts'

const record = (id: string, status: string) => ({
  id,
  waId: `wa-${id}`,
  sender: '1',
  number: '9',
  type: 'text',
  body: `text ${id}`,
  status,
  errorCode: status === 'failed' ? 'message_expired' : null,
  createdAtMs: 0,
  sendAtMs: null,
  sentAtMs: 0,
})
const line = (id: string, receipt: boolean) => ({
  t: '',
  connection: 1,
  sender: '1',
  recipient: '9',
  wa_message_id: `wa-${id}`,
  ack: 'ok',
  receipt,
  duplicate: false,
})
const onPhone = (id: string, waId = `wa-${id}`) => ({
  wa_message_id: waId,
  from: '1',
  text: `text ${id}`,
  caption: null,
})
const nothing = { notShownOnce: [], shownAlthoughOver: [], receiptsLost: [], inboundNotStoredOnce: [] }

/** One delivered message and one answer to it, and what is different. */
function audit(different: Partial<Sides>) {
  return auditPhones({
    records: [record('a', 'delivered')],
    log: [line('a', true)],
    shown: new Map([['9', [onPhone('a')]]]),
    opened: new Set(),
    written: [{ waId: 'wa-in', sender: '1', text: 'answer' }],
    inbound: [{ waId: 'wa-in', sender: '1', body: 'answer' }],
    ...different,
  })
}

describe('phones and database', () => {
  it('agree when everything is where it should be', () => {
    expect(audit({})).toEqual(nothing)
    expect(audit({ opened: new Set(['wa-a']), records: [record('a', 'read')] })).toEqual(nothing)
    expect(audit({ records: [record('a', 'failed')], shown: new Map(), log: [] })).toEqual(nothing)
    expect(audit({ records: [record('a', 'sent')], log: [line('a', false)] })).toEqual(nothing)
  })

  it('disagree about a sent message that is on no phone, twice on one or on the phone of another recipient', () => {
    const found = { ...nothing, notShownOnce: ['text a: delivered'] }
    expect(audit({ shown: new Map() })).toEqual(found)
    expect(audit({ shown: new Map([['9', [onPhone('a'), onPhone('a', 'wa-other')]]]) })).toEqual(found)
    expect(audit({ shown: new Map([['8', [onPhone('a')]]]) })).toEqual(found)
  })

  it('disagree about a failed or canceled message that is on a phone', () => {
    const over = (status: string) => audit({ records: [record('a', status)], log: [line('a', false)] })
    expect(over('failed')).toEqual({ ...nothing, shownAlthoughOver: ['text a: message_expired'] })
    expect(over('canceled')).toEqual({ ...nothing, shownAlthoughOver: ['text a: canceled'] })
  })

  it('disagree about a receipt that the status does not tell of', () => {
    const found = (status: string) => ({ ...nothing, receiptsLost: [`text a: ${status}`] })
    expect(audit({ records: [record('a', 'sent')] })).toEqual(found('sent'))
    expect(audit({ opened: new Set(['wa-a']) })).toEqual(found('delivered'))
  })

  it('disagree about a written message that is missing, doubled or another one in the history', () => {
    const found = { ...nothing, inboundNotStoredOnce: ['answer'] }
    const stored = { waId: 'wa-in', sender: '1', body: 'answer' }
    expect(audit({ inbound: [] })).toEqual(found)
    expect(audit({ inbound: [stored, stored] })).toEqual(found)
    expect(audit({ inbound: [{ ...stored, body: 'answe' }] })).toEqual(found)
    expect(audit({ inbound: [{ ...stored, sender: '2' }] })).toEqual(found)
  })
})
