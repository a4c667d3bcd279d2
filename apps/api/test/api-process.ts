import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { bundledApps } from '@wagate/test-kit/servers/test-bundle'
import { vi } from 'vitest'

const program = join(await bundledApps(), 'apps/api/dist/main.js')

/** A real process. Its output is appended to `output`. */
export function spawnApi(env: Record<string, string>): { child: ChildProcess; output: string[] } {
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: string[] = []
  child.stdout.on('data', (chunk) => output.push(String(chunk)))
  child.stderr.on('data', (chunk) => output.push(String(chunk)))
  return { child, output }
}

/** Resolves to its URL once it listens. */
export async function listening(output: string[]): Promise<string> {
  const lines = () => output.join('').split('\n')
  const find = () => JSON.parse(lines().find((text) => text.includes('API listening')) ?? '').port
  return `http://127.0.0.1:${await vi.waitFor(find, { timeout: 60_000, interval: 50 })}`
}
