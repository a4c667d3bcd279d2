import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { type AuthenticationCreds, initAuthCreds, makeWASocket, type SignalDataSet } from 'baileys'
import { afterEach, expect, test, vi } from 'vitest'
import { replaceTransactions } from '../src/session/credentials/signal-steps.ts'
import { silent } from './silent-logger.ts'

const open: ReturnType<typeof makeWASocket>[] = []
afterEach(async () => {
  for (const sock of open.splice(0)) await sock.end(undefined)
  vi.restoreAllMocks()
})

/** A socket whose server does not answer. */
function makeKeys() {
  const written: SignalDataSet[] = []
  const keys = { get: async () => ({}), set: async (data: SignalDataSet) => void written.push(data) }
  const creds: AuthenticationCreds = initAuthCreds()
  const sock = makeWASocket({
    auth: { creds, keys },
    logger: silent,
    waWebSocketUrl: 'ws://127.0.0.1:9',
  })
  open.push(sock)
  replaceTransactions(sock, keys)
  return { keys: sock.authState.keys, written }
}

test('transactions store at once and use no async context', async () => {
  const run = vi.spyOn(AsyncLocalStorage.prototype, 'run')
  const enterWith = vi.spyOn(AsyncLocalStorage.prototype, 'enterWith')
  const { keys, written } = makeKeys()
  await keys.transaction(async () => {
    await turn()
    await keys.set({ 'device-list': { contact: ['0'] } })
    expect(written).toEqual([{ 'device-list': { contact: ['0'] } }])
  }, 'me')
  expect(written).toHaveLength(1)
  expect([run, enterWith].map((method) => method.mock.calls)).toEqual([[], []])
})

test('transactions run one after the other, also when one fails', async () => {
  const { keys } = makeKeys()
  const steps: string[] = []
  const work = (name: string) => async () => {
    steps.push(`${name} begins`)
    await turn()
    steps.push(`${name} ends`)
    if (name === 'first') throw new Error('failed')
    return name
  }
  const results = await Promise.allSettled(
    ['first', 'second'].map((name) => keys.transaction(work(name), 'me')),
  )
  expect(steps).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})
