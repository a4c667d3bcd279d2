import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Devnet } from '../src/devnet.ts'
import { summarize } from '../src/summary.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-summary-'))
afterAll(() => rmSync(folder, { recursive: true }))

function summaryOf(more: Partial<Devnet>, fromEnvFile: string[] = []): string {
  const devnet: Devnet = {
    apiUrl: 'http://127.0.0.1:3000',
    databaseUrl: '',
    redisUrl: '',
    dataFolder: folder,
    adminKey: { apiKey: 'wag_1', isNew: false },
    simulator: undefined,
    about: { postgres: 'private', redis: 'private' },
    names: () => ['api', 'worker-1'],
    pid: () => undefined,
    start: async () => undefined,
    stop: async () => undefined,
    signal: () => undefined,
    waitUntilReady: async () => undefined,
    close: async () => undefined,
    ...more,
  }
  return summarize(devnet, { isKeyAccepted: true, fromEnvFile })
}

test('a start prints the addresses of /docs and /link', () => {
  const summary = summaryOf({})
  expect(summary).toContain('http://127.0.0.1:3000/docs')
  expect(summary).toContain('http://127.0.0.1:3000/link')
})

test('a start names the settings that come from .env, without their values', () => {
  expect(summaryOf({}, ['HOST', 'MASTER_KEY'])).toMatch(/^ {2}From \.env +HOST, MASTER_KEY$/m)
  expect(summaryOf({})).not.toContain('.env ')
})

test('a start names the folder of Postgres if it is outside the data folder', () => {
  expect(summaryOf({})).toMatch(new RegExp(`^ {2}Data +${folder}$`, 'm'))
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere)
  symlinkSync(elsewhere, join(folder, 'postgres'))
  expect(summaryOf({})).toMatch(
    new RegExp(`^ {2}Data +${folder}, .*because you are root, ${elsewhere}$`, 'm'),
  )
})
