import { expect, test } from 'vitest'
import { describeError } from '../src/logger.ts'

test('shows the innermost cause and no values of queries and commands', () => {
  const cause = Object.assign(new Error('duplicate key value'), {
    code: '23505',
    detail: 'Key (email)=(secret)',
  })
  const query = Object.assign(new Error('Failed query: insert ... params: secret', { cause }), {
    params: ['secret'],
  })
  const reply = Object.assign(new Error('MISCONF'), { command: { name: 'set', args: ['secret'] } })
  for (const error of [query, reply]) expect(JSON.stringify(describeError(error))).not.toContain('secret')
  expect(describeError(query)).toMatchObject({ type: 'Error', message: 'duplicate key value', code: '23505' })
  expect(describeError(reply)).toMatchObject({ message: 'MISCONF', stack: expect.stringContaining(' at ') })
})

test('copes with what is no error and with a circle of causes', () => {
  expect(describeError(undefined)).toBeUndefined()
  expect(describeError('text')).toEqual({ type: 'string', message: 'text' })
  const circle = new Error('round')
  circle.cause = circle
  expect(describeError(circle)).toMatchObject({ message: 'round' })
})
