import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newId, newNumber } from './companion.ts'
import { eventually } from './eventually.ts'

let sim: Simulator
let companion: Companion

beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
}, 30_000)
afterAll(async () => {
  await companion.end()
  await sim.close()
})

const message = (type: 'msg' | 'pkmsg') => ({
  tag: 'message',
  attrs: { id: newId(), to: `${newNumber()}@s.whatsapp.net`, type: 'text' },
  content: [{ tag: 'enc', attrs: { v: '2', type }, content: randomBytes(50) }],
})

it('counts nothing for a proper client', async () => {
  await (await companion.send(newNumber(), { text: 'first' })).ack
  expect(sim.stats().unknown).toEqual({})
})

it('counts the first message of a session that does not show the identity of its device', async () => {
  await companion.sock.sendNode(message('pkmsg'))
  await eventually(() => sim.stats().unknown).toEqual({ 'pkmsg without device-identity': 1 })
})

it('counts messages that come before the client has said that it is ready', async () => {
  await companion.end()
  companion.reconnect()
  const { sock } = companion
  const listeners = sock.ws.listeners('CB:success')
  sock.ws.removeAllListeners('CB:success')
  sock.ws.on('CB:success', (node: unknown) => {
    void sock.sendNode(message('msg'))
    for (const listener of listeners) listener(node)
  })
  await eventually(() => sim.stats().unknown).toMatchObject({ 'message before passive active': 1 })
  await companion.until(() => companion.isOpen, 'open')
  await (await companion.send(newNumber(), { text: 'later' })).ack
  expect(sim.stats().unknown).toMatchObject({ 'message before passive active': 1 })
})
