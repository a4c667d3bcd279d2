import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'

const required = {
  DATABASE_URL: 'postgres://localhost/wagate',
  REDIS_URL: 'redis://localhost',
  MASTER_KEY: Buffer.alloc(32).toString('base64'),
}

test('a worker is named after its host unless it is given a name', () => {
  expect(readConfig(required).WORKER_NAME).toBe(hostname())
  expect(readConfig({ ...required, WORKER_NAME: 'w1' }).WORKER_NAME).toBe('w1')
})

test('refuses heartbeats of which none may fail', () => {
  const beats = { ...required, LEASE_TTL_MS: '6000', HEARTBEAT_MS: '3000' }
  expect(() => readConfig(beats)).toThrow('HEARTBEAT_MS: must be less than half of LEASE_TTL_MS')
  expect(readConfig({ ...beats, HEARTBEAT_MS: '2999' }).HEARTBEAT_MS).toBe(2999)
})

test('names every bad variable at once, and no secret', () => {
  const read = () => readConfig({ REDIS_URL: 'http://x', MASTER_KEY: 'hush' })
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'MASTER_KEY']) expect(read).toThrow(name)
  expect(read).not.toThrow('hush')
})
