import { type Simulator, startSimulator } from '@wagate/simulator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeReadServedVersion } from '../src/session/network/served-version.ts'

let simulator: Simulator
beforeAll(async () => {
  simulator = await startSimulator()
})
afterAll(() => simulator.close())

const read = (signal = new AbortController().signal) =>
  makeReadServedVersion({ simulatedHost: simulator.mediaHost })(signal)

test('the version is the one that WhatsApp Web names', async () => {
  simulator.webVersion({ revision: 1_043_999_999 })
  expect(await read()).toBe('2.3000.1043999999')
})

test.for([
  ['changed', 'names no revision'],
  ['missing', 'status 404'],
  ['endless', 'more than the limit'],
] as const)('a page that is %s is an error', async ([page, message]) => {
  simulator.webVersion({ page })
  await expect(read()).rejects.toThrow(message)
})

test('reading ends when it is given up', async () => {
  const giveUp = new AbortController()
  simulator.webVersion({ page: 'endless' })
  const reading = read(giveUp.signal)
  giveUp.abort()
  await expect(reading).rejects.toThrow('abort')
})
