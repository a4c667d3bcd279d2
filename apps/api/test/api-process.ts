import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { sourceOptions } from '@wagate/test-kit/source-options'
import { vi } from 'vitest'

const program = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** A real process, from source. Its output is appended to `output`. */
export function spawnApi(env: Record<string, string>): { child: ChildProcess; output: string[] } {
  const child = spawn(process.execPath, [...sourceOptions, program], {
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
