import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { operatorCommands } from '@wagate/shared/operator-commands'
import { expect, test } from 'vitest'

/** Empty values are not read from .env of the person who runs the test. */
const env = { ...process.env, DATABASE_URL: '', MASTER_KEY: '' }

function run(...args: string[]): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['scripts/wagate.mjs', ...args],
      { cwd: repository, env },
      (error, _, stderr) => resolve({ code: Number(error?.code ?? 0), text: stderr }),
    )
  })
}

const words = [...new Set(operatorCommands.map(({ call }) => call.split(' ')[0] ?? ''))]

test.each([
  [[], 2],
  [['--help'], 0],
  [['nonsense'], 2],
])('wagate %j shows every command, with exit code %i', async (args, code) => {
  const answer = await run(...args)
  expect(answer.code).toBe(code)
  for (const { call, does } of operatorCommands)
    expect(answer.text).toMatch(new RegExp(`^ {2}${call.replace('|', '\\|')} +${does}$`, 'm'))
  if (args.includes('nonsense')) expect(answer.text).toContain('There is no command "nonsense".')
})

test('every word of a command leads to the program that has it', { timeout: 60_000 }, async () => {
  const answers = await Promise.all(words.map((word) => run(word, '--help')))
  expect(answers.map(({ code }) => code)).toEqual(words.map(() => 0))
  words.forEach((word, index) => {
    expect(answers[index]?.text).toMatch(new RegExp(`^(Usage:|      ) wagate ${word}\\b`, 'm'))
    expect(answers[index]?.text).not.toContain('Usage: wagate <command>')
  })
})

const calls = operatorCommands.map(({ call }) =>
  call
    .replace('<address>', 'a@example.com')
    .replace('<number>', '16')
    .replace(/(\w+)\|\w+/, '$1')
    .split(' '),
)

test('without DATABASE_URL, every command ends with a sentence', { timeout: 60_000 }, async () => {
  const answers = await Promise.all(calls.map((args) => run(...args)))
  answers.forEach(({ code, text }, index) => {
    expect({ call: calls[index], code, text }).toMatchObject({
      code: 1,
      text: expect.stringContaining('DATABASE_URL: is required'),
    })
    expect(text).not.toMatch(/^ {4}at /m)
  })
})

test('commands take from .env what the environment does not have', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-env-'))
  try {
    mkdirSync(join(folder, 'scripts'))
    cpSync(join(repository, 'scripts/env-file.mjs'), join(folder, 'scripts/env-file.mjs'))
    writeFileSync(join(folder, '.env'), 'OF_BOTH=file\nOF_FILE=file\nEMPTY=\n')
    const script = `const { loadEnvFile } = await import('./scripts/env-file.mjs')
      console.log(JSON.stringify([loadEnvFile(), process.env.OF_BOTH, process.env.OF_FILE]))`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: folder,
      encoding: 'utf8',
      env: { OF_BOTH: 'environment' },
    })
    expect(JSON.parse(stdout)).toEqual([['OF_FILE'], 'environment', 'file'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
