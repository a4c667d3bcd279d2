import { parseArgs } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { readEnv } from '../src/env.ts'
import { configurationOrExit, runCommand } from '../src/run-command.ts'

const printed = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
const earlier = process.exitCode
afterEach(() => {
  process.exitCode = earlier
  printed.mockClear()
})

const failing = (error: unknown) => async (): Promise<number> => {
  throw error
}
const system = (message: string) =>
  Object.assign(new Error(message), { syscall: 'connect', code: 'ECONNREFUSED' })
const ofPostgres = (code: string) => Object.assign(new Error('of Postgres'), { code })

test.each<[string, () => Promise<number>, number, string]>([
  ['a missing setting', async () => Number(readEnv({ A_URL: z.url() }, {}).A_URL), 1, '  A_URL: '],
  ['a server that is away', failing(system('connect 1.2.3.4')), 1, 'cannot be reached: connect 1.2.3.4'],
  ['several addresses of it', failing(new AggregateError([system('connect ::1')])), 1, 'connect ::1'],
  ['one inside another error', failing(new Error('query', { cause: system('connect x') })), 1, 'connect x'],
  ['a wrong password', failing(ofPostgres('28P01')), 1, 'Postgres refused: of Postgres'],
  ['an unknown database', failing(ofPostgres('3D000')), 1, 'Postgres refused: of Postgres'],
  ['an empty database', failing(ofPostgres('42P01')), 1, 'Postgres refused: of Postgres'],
  ['an unknown option', async () => Number(parseArgs({ args: ['--x'] })), 2, "Unknown option '--x'"],
])('%s ends a command with a sentence', async (_, work, code, sentence) => {
  await runCommand('Usage: x', work)
  expect(process.exitCode).toBe(code)
  const text = String(printed.mock.calls)
  expect(text).toContain(sentence)
  expect(text.includes('Usage: x')).toBe(code === 2)
  expect(text).not.toMatch(/^ {4}at /m)
})

test('a command has the exit code of its work, and a bug keeps its stack', async () => {
  await runCommand('Usage: x', async () => 3)
  expect(process.exitCode).toBe(3)
  await expect(runCommand('Usage: x', failing(new TypeError('a bug')))).rejects.toThrow('a bug')
})

test('bad settings end a process with every one of them, and a bug keeps its stack', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exited with ${code}`)
  })
  const read = () => readEnv({ A_URL: z.url(), B_URL: z.url() }, {})
  expect(() => configurationOrExit(read)).toThrow('exited with 1')
  expect(String(printed.mock.calls)).toMatch(
    /^The configuration is not usable:\n {2}A_URL: .*\n {2}B_URL: .*\nSet it in the environment/,
  )
  exit.mockRestore()
  const bug = () => configurationOrExit(() => JSON.parse('{'))
  expect(bug).toThrow(SyntaxError)
})
