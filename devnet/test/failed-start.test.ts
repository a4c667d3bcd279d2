import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { freePort } from '@wagate/local-servers/free-port'
import { expect, onTestFinished, test } from 'vitest'
import { startDevnet } from '../src/devnet.ts'

test('a system whose only worker cannot start says what the worker said', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const taken = String((other.address() as AddressInfo).port)
  const environment = (name: string) => (name === 'worker-1' ? { METRICS_PORT: taken } : {})
  await expect(startDevnet({ shards: 4, workers: 1, environment })).rejects.toThrow(
    new RegExp(`^worker-1 ended while starting:[^]*${taken} \\(another program uses it\\)[^]*METRICS_PORT`),
  )
}, 60_000)

test('a port that is kept for a program is never given to another one, by us or by the system', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, () => freePort()))
  expect(Math.max(...ports)).toBeLessThan(32_768)
  expect(new Set(ports).size).toBe(200)
})
