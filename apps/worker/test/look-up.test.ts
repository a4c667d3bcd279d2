import type { BinaryNode } from 'baileys'
import { describe, expect, test } from 'vitest'
import { LookUpRefused, readLookUp } from '../src/session/contacts/look-up.ts'

const node = (tag: string, attrs: BinaryNode['attrs'], content?: BinaryNode['content']): BinaryNode => ({
  tag,
  attrs,
  ...(content !== undefined && { content }),
})

function answerOf(users: BinaryNode[], contactResult: BinaryNode[] = []): BinaryNode {
  const result = node('result', {}, [node('contact', {}, contactResult)])
  return node('iq', { type: 'result' }, [node('usync', {}, [result, node('list', {}, users)])])
}

const user = (jidUser: string, type: 'in' | 'out', repeated?: string) =>
  node('user', { jid: `${jidUser}@s.whatsapp.net` }, [
    node('contact', { type }, repeated === undefined ? undefined : Buffer.from(`+${repeated}`)),
  ])

describe('the answer to a look-up', () => {
  test('reports a number as absent only if WhatsApp does', () => {
    const answer = answerOf([user('1', 'in', '1'), user('2', 'out', '2')])
    expect([...readLookUp(answer, ['1', '2', '3'])]).toEqual([
      ['1', '1@s.whatsapp.net'],
      ['2', null],
    ])
  })

  test('leaves out a number whose entry carries an error', () => {
    const failed = node('user', { jid: '1@s.whatsapp.net' }, [
      node('contact', {}, [node('error', { code: '500' })]),
    ])
    expect([...readLookUp(answerOf([failed, user('2', 'in', '2')]), ['1', '2'])]).toEqual([
      ['2', '2@s.whatsapp.net'],
    ])
  })

  test("throws the error of the query with WhatsApp's back-off time", () => {
    const limited = answerOf([], [node('error', { code: '429', backoff: '3600' })])
    const refused = node('iq', { type: 'error' }, [node('error', { code: '400' })])
    expect(() => readLookUp(limited, ['1'])).toThrow(
      expect.objectContaining({ code: 429, backoffMs: 3_600_000 }),
    )
    expect(() => readLookUp(refused, ['1'])).toThrow(LookUpRefused)
  })

  test.each([
    ['Brazil', '5511987650001', '551187650001'],
    ['Mexico', '5215512340001', '525512340001'],
    ['Argentina', '5491112340001', '541112340001'],
  ])('finds the other form of a number (%s)', (_, asked, known) => {
    expect(readLookUp(answerOf([user(known, 'in', asked)]), [asked]).get(asked)).toBe(
      `${known}@s.whatsapp.net`,
    )
    expect(readLookUp(answerOf([user(known, 'in')]), [asked, '1']).get(asked)).toBe(`${known}@s.whatsapp.net`)
  })

  test.each([
    ['with the number repeated', (number: string) => number],
    ['without it', () => undefined],
  ])('never gives the account of one form to the other in the same query, %s', (_, repeat) => {
    const [mobile, landline] = ['5511987650001', '551187650001'] as const
    const answer = answerOf([user(mobile, 'out', repeat(mobile)), user(landline, 'in', repeat(landline))])
    expect(Object.fromEntries(readLookUp(answer, [mobile, landline]))).toEqual({
      [mobile]: null,
      [landline]: `${landline}@s.whatsapp.net`,
    })
  })
})
