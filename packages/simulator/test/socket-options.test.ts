import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MediaAgent, socketOptions } from '../src/socket-options.ts'

const server = createServer(async (asked, response) => {
  response.end(`${asked.method} ${asked.url} ${asked.headers.host} ${await text(asked)}`)
})
let agent: MediaAgent
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  agent = new MediaAgent(`127.0.0.1:${(server.address() as AddressInfo).port}`)
})
afterAll(() => {
  agent.destroy()
  server.close()
})

test('takes uploads with node:https to the simulated media host', async () => {
  const answer = new Promise<string>((resolve, reject) => {
    const asked = request('https://mmg.whatsapp.net/mms/image', { method: 'POST', agent }, (response) =>
      resolve(text(response)),
    )
    asked.on('error', reject)
    asked.end('bytes')
  })
  expect(await answer).toBe('POST /mms/image mmg.whatsapp.net bytes')
})

test('takes uploads with fetch to the simulated media host', async () => {
  const options = { method: 'POST', body: 'bytes', dispatcher: agent } as unknown as RequestInit
  const response = await fetch('https://mmg.whatsapp.net/mms/image', options)
  expect(await response.text()).toMatch(/^POST \/mms\/image \S+ bytes$/)
})

test('replaces the root of trust of Baileys', () => {
  const details = { PUBLIC_KEY: new Uint8Array(32) }
  const network = { socketUrl: 'ws://127.0.0.1:1/ws', mediaHost: '127.0.0.1:2', rootKey: 'AQID' }
  expect(socketOptions(network, details).waWebSocketUrl).toBe('ws://127.0.0.1:1/ws')
  expect(details.PUBLIC_KEY).toEqual(Buffer.from([1, 2, 3]))
})
