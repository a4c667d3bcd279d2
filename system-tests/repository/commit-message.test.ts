import { expect, test } from 'vitest'
import { problemsOf } from '../../scripts/commit-message.mjs'

test.each([
  'api: refuse a sender that is not linked',
  'test-kit: a file for each format of hostile media',
  'db: process expired messages in pages',
])('accepts "%s"', (subject) => {
  expect(problemsOf(subject)).toEqual([])
})

test.each([
  ['Refuse a sender', 'scope'],
  ['api: refuse a sender; rename a file', 'semicolon'],
  ['api: refuse a sender.', 'full stop'],
  [`api: refuse ${'x'.repeat(70)}`, '72'],
])('refuses "%s": %s', (subject, why) => {
  expect(problemsOf(subject)).toEqual([expect.stringContaining(why)])
})
