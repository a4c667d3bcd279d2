import { expect, test } from 'vitest'
import { readStartArguments } from '../../scripts/start-arguments.mjs'

test('simulates the network with two workers when nothing is asked for', () => {
  expect(readStartArguments([])).toEqual({
    live: false,
    workers: 2,
    port: 3000,
    simulatorPort: 8789,
    data: '.data',
    help: false,
  })
})

test('the real network has its own data folder', () => {
  expect(readStartArguments(['--live']).data).toBe('.data-live')
})

test('takes every option, with a space or an equals sign', () => {
  const given = ['--live', '--workers=3', '--port', '3001', '--simulator-port=8790', '--data', 'a b', '-h']
  expect(readStartArguments(given)).toEqual({
    live: true,
    workers: 3,
    port: 3001,
    simulatorPort: 8790,
    data: 'a b',
    help: true,
  })
})

test.each([
  [['--wrokers', '3'], 'There is no option --wrokers.'],
  [['3'], '"3" is not an option.'],
  [['--workers'], '--workers takes a value.'],
  [['--live=yes'], '--live takes no value.'],
  [['--workers', 'many'], '--workers takes a whole number from 1 to 64, not "many".'],
  [['--port', '70000'], '--port takes a whole number from 1 to 65535, not "70000".'],
])('explains what is wrong with %j', (given, sentence) => {
  expect(() => readStartArguments(given)).toThrow(sentence)
})
